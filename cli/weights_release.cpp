// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/weights_release.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "cli/lock_holder.h"
#include "predictor/base/text.h"
#include "predictor/samples/sample_point.h"

namespace dlcast {
namespace {

namespace fs = std::filesystem;

// What is wrong in the file system becomes an Error.
template <typename Work>
auto guarded(const std::string& name, const Work& work) -> decltype(work()) {
    try {
        return work();
    } catch (const fs::filesystem_error& error) {
        const std::string place = shown_path(error.path1().empty() ? name : error.path1().string());
        return invalid_argument(fmt::format("--out: '{}': '{}': {}; name a place in a folder that can be written",
                                            shown_path(name), place, error.code().message()));
    }
}

// "weights/" is the link weights.
fs::path link_path(const std::string& name) {
    fs::path path = fs::path(name).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

constexpr std::int64_t highest_version = 1'000'000'000'000;  // a higher one is no file of ours
constexpr int lock_tries = 100, silent_tries = 10;           // one in 100 ms

Error empty_name() { return invalid_argument("--out is empty; name the link of the published weights"); }

std::string version_prefix(const fs::path& link) { return link.filename().string() + ".v"; }

// The number of a version of this link; 0 of another file.
std::int64_t version_of(const fs::path& link, const fs::path& file) {
    const std::string name = file.filename().string(), prefix = version_prefix(link);
    if (!name.starts_with(prefix)) return 0;
    const std::int64_t version = parse_integer(std::string_view(name).substr(prefix.size())).value_or(0);
    return version > 0 && version < highest_version ? version : 0;
}

fs::path folder_of(const fs::path& link) { return link.has_parent_path() ? link.parent_path() : fs::path("."); }

// Holds a folder against other publishers until destroyed. A file system without such locks is used without.
class FolderLock {
public:
    FolderLock(const fs::path& folder, const Say& say)
        : folder_(folder.string()), handle_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        for (int tries = 0; handle_ >= 0 && ::flock(handle_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++tries) {
            taken_ = tries < lock_tries;
            if (!taken_) return;
            if (tries == silent_tries)
                say(fmt::format("waiting for the lock on '{}', which {} holds", shown_path(folder_), holder()));
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
    ~FolderLock() {
        if (handle_ >= 0) ::close(handle_);
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    explicit operator bool() const { return taken_; }

    Error held_by_another(const std::string& name) const {
        return invalid_argument(
            fmt::format("--out: '{}': {} holds the lock on its folder '{}'; run it again when it "
                        "has ended",
                        shown_path(name), holder(), shown_path(folder_)));
    }

private:
    std::string holder() const {
        const auto pid = lock_holder(handle_);
        if (!pid) return "another program";
        // Another dlcast refine, or whoever locks folders, as flock(1) does.
        const auto name = read_file(fmt::format("/proc/{}/comm", *pid), 64);
        return name ? fmt::format("process {} ({})", *pid, one_line(trim(*name), 64))
                    : fmt::format("another program (process {})", *pid);
    }

    std::string folder_;
    int handle_;
    bool taken_ = true;
};

// Whether a folder is a version of ours, or NAME or NAME.last, which lead to one. What is put there goes with it.
bool is_published(const fs::path& folder) {
    const bool leads = fs::is_symlink(folder);
    const fs::path version = leads ? fs::read_symlink(folder) : folder.filename();
    const fs::path link = folder.parent_path() / version.stem();
    if (version_of(link, version) == 0) return false;
    return leads ? folder == link || folder == link.string() + ".last" : fs::is_symlink(link);
}

fs::path published_above(const fs::path& link) {
    for (fs::path above = link.parent_path(); above.has_relative_path(); above = above.parent_path())
        if (is_published(above)) return above;
    return {};
}

std::int64_t newest_version(const fs::path& link) {
    std::int64_t newest = 0;
    for (const auto& entry : fs::directory_iterator(folder_of(link)))
        newest = std::max(newest, version_of(link, entry.path()));
    return newest;
}

// The link shows the old target or the new one at every moment.
void turn_link(const fs::path& link, const fs::path& target) {
    const fs::path beside = link.string() + ".next";
    fs::remove(beside);
    fs::create_directory_symlink(target, beside);
    fs::rename(beside, link);
}

void sync_folder(const fs::path& folder) {
    const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    if (handle < 0) return;
    ::fsync(handle);
    ::close(handle);
}

void remove_older(const fs::path& link, const fs::path& last) {
    std::vector<fs::path> old;
    const fs::path current = fs::read_symlink(link);
    for (const auto& entry : fs::directory_iterator(folder_of(link)))
        if (version_of(link, entry.path()) > 0 && entry.path().filename() != current && entry.path().filename() != last)
            old.push_back(entry.path());
    for (const fs::path& version : old) fs::remove_all(version);
}

}  // namespace

struct WeightsPlace::Held {
    fs::path link;
    std::string name;
    FolderLock lock;
};

WeightsPlace::WeightsPlace(std::unique_ptr<Held> held) : held_(std::move(held)) {}
WeightsPlace::WeightsPlace(WeightsPlace&&) noexcept = default;
WeightsPlace::~WeightsPlace() = default;

Result<WeightsPlace> WeightsPlace::hold(const std::string& name, const Say& say) {
    return guarded(name, [&]() -> Result<WeightsPlace> {
        const fs::path link = link_path(name);
        if (link.empty()) return empty_name();
        if (fs::exists(fs::symlink_status(link)) && !fs::is_symlink(link))
            return invalid_argument(
                fmt::format("--out: '{}' is there and is no link to a version; name another place, and put it into "
                            "dlcast.toml as [files] weights",
                            shown_path(name)));
        if (const fs::path above = published_above(link); !above.empty())
            return invalid_argument(fmt::format(
                "--out: '{}' is inside '{}', a published version that is removed in time; name a place beside it",
                shown_path(name), shown_path(above.string())));
        fs::create_directories(folder_of(link));
        std::unique_ptr<Held> held(new Held{link, name, {folder_of(link), say}});
        if (!held->lock) return held->lock.held_by_another(name);
        return WeightsPlace(std::move(held));
    });
}

Status WeightsPlace::publish(const std::function<Status(const std::string&)>& fill) const {
    return guarded(held_->name, [&]() -> Status {
        const fs::path &link = held_->link, last = link.string() + ".last";
        const fs::path version = link.string() + fmt::format(".v{}", newest_version(link) + 1);
        const fs::path unfinished = version.string() + ".unfinished";
        fs::remove_all(unfinished);
        fs::create_directory(unfinished);
        if (auto s = fill(unfinished.string()); !s) {
            fs::remove_all(unfinished);
            return s;
        }
        sync_folder(unfinished);
        fs::rename(unfinished, version);
        const bool has_old = fs::is_symlink(link);
        const fs::path old = has_old ? fs::read_symlink(link) : fs::path();
        turn_link(link, version.filename());
        if (has_old) turn_link(last, old);
        sync_folder(folder_of(link));
        remove_older(link, old);
        return ok();
    });
}

Result<std::string> roll_back_weights(const std::string& name, const Say& say) {
    return guarded(name, [&]() -> Result<std::string> {
        const fs::path link = link_path(name), last = link.string() + ".last";
        if (link.empty()) return empty_name();
        const FolderLock lock(folder_of(link), say);
        if (!lock) return lock.held_by_another(name);
        if (!fs::is_symlink(link) || !fs::exists(last))
            return not_found(fmt::format("'{}' has no version before; dlcast refine keeps the last one it replaced",
                                         shown_path(name)));
        const fs::path now = fs::read_symlink(link), before = fs::read_symlink(last);
        turn_link(link, before);
        turn_link(last, now);
        sync_folder(folder_of(link));
        return before.string();
    });
}

}  // namespace dlcast
