// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/usage_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

std::string hint(const std::string& word, const std::vector<std::string>& known) {
    const std::string near = nearest_name(word, known);
    return near.empty() ? fmt::format("one of: {}", fmt::join(known, ", ")) : fmt::format("did you mean \"{}\"?", near);
}

// "--epochs E", "--collectives SETUPS MEASURED".
std::string with_value(const CLI::App& verb, const std::string& name) {
    const CLI::Option* option = verb.get_option_no_throw(name);
    return option && !option->get_type_name().empty() ? name + " " + option->get_type_name() : name + " VALUE";
}

std::string missing(const CLI::App& verb, const std::string& name) {
    const CLI::Option* option = verb.get_option_no_throw(name);
    std::string what = option ? ": " + option->get_description() : "";
    if (what.size() > 2) what[2] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[2])));
    return fmt::format("`{}` needs {}{}", full_name(verb), name, what);
}

// The text of the fault is cut where CLI11 (2.1) joined it.
std::string in_words(const CLI::App& verb, const CLI::ParseError& fault) {
    const auto kind = static_cast<CLI::ExitCodes>(fault.get_exit_code());
    const std::string text = fault.what();
    const auto before = [&](const char* words) { return text.substr(0, text.find(words)); };
    const auto after = [&](const char* words) { return text.substr(text.rfind(words) + std::strlen(words)); };
    if (kind == CLI::ExitCodes::RequiredError) return missing(verb, before(" is required"));
    if (kind == CLI::ExitCodes::ExtrasError)
        return fmt::format("`{}` does not take \"{}\"; leave it out", full_name(verb), one_line(after(": "), 80));
    if (kind == CLI::ExitCodes::ExcludesError)
        return fmt::format("{} and {} exclude each other; keep one", before(" excludes "), after(" excludes "));
    if (kind == CLI::ExitCodes::RequiresError)
        return fmt::format("{} goes with {}; add that too", before(" requires "), after(" requires "));
    if (kind == CLI::ExitCodes::ArgumentMismatch && text.find(" At Most 1 ") != std::string::npos)
        return fmt::format("{} stands {} times; keep one", before(": "), after(" received "));
    if (kind == CLI::ExitCodes::ArgumentMismatch)
        return fmt::format("{} lacks a value; write {}", before(": "), with_value(verb, before(": ")));
    // Of flags alone: other values are checked before CLI11 converts them.
    constexpr std::string_view unread = "Could not convert: ";
    if (kind == CLI::ExitCodes::ConversionError && text.starts_with(unread))
        return fmt::format("{} takes no value; write it alone", before(" = ").substr(unread.size()));
    return text;
}

std::string misspelt(const CLI::App& verb, const std::string& word) {
    std::vector<std::string> options;
    for (const CLI::Option* option : verb.get_options())
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    const std::string near = nearest_name(word, options);
    return fmt::format("`{}` has no option {}{}", full_name(verb), word,
                       near.empty() ? "" : fmt::format("; did you mean {}?", near));
}

}  // namespace

std::string full_name(const CLI::App& verb) {
    return verb.get_parent() ? full_name(*verb.get_parent()) + " " + verb.get_name() : verb.get_name();
}

// CLI11 says of a misspelt verb that one is missing, and of a misspelt option that it was not expected.
std::string usage_fault(const CLI::App& verb, const CLI::ParseError& fault) {
    const auto words = verb.remaining();
    std::vector<std::string> verbs;
    for (const CLI::App* below : verb.get_subcommands([](const CLI::App*) { return true; }))
        verbs.push_back(below->get_name());
    if (!verbs.empty() && words.empty()) return fmt::format("no verb after `{}`; {}", full_name(verb), hint("", verbs));
    if (!verbs.empty())
        return fmt::format("\"{}\" is no verb of `{}`; {}", words.front(), full_name(verb), hint(words.front(), verbs));
    const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
    if (const auto wrong = std::find_if(words.begin(), words.end(), is_option); wrong != words.end())
        return misspelt(verb, *wrong);
    return in_words(verb, fault);
}

}  // namespace dlcast
