// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate report`: kept results become the page of figures.
#include "cli/evaluate_report.h"

#include <fmt/format.h>

#include <memory>

#include "cli/accuracy_report.h"
#include "cli/commands.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

int run(const std::string& folder, const std::string& out) {
    const auto results = read_kept_results(folder);
    if (!results) return report(results.error());
    const std::string page = accuracy_page(*results);
    if (out.empty()) {
        fmt::print("{}", page);
        return exit_done;
    }
    const auto written = write_file_atomically(out, page);
    return written ? exit_done : report(written.error());
}

}  // namespace

void add_evaluate_report(CLI::App& evaluate, int& exit_code) {
    CLI::App* verb = evaluate.add_subcommand("report", "A page in Markdown from kept results (contrib/accuracy)");
    const auto folder = std::make_shared<std::string>(), out = std::make_shared<std::string>();
    verb->add_option("--work", *folder, "Folder of results, as contrib/accuracy keeps them")
        ->type_name("DIR")
        ->required();
    verb->add_option("-o,--out", *out, "Page to write, instead of stdout")->type_name("FILE.md");
    verb->callback([&exit_code, folder, out] { exit_code = run(*folder, *out); });
}

}  // namespace dlcast
