#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gnomon::base {

/// Whether a user's argument that may be a file or a known name is a file: it ends in .json, or such a file
/// exists.
bool names_file(const std::string& argument);

/// The message for a name that is not known: the most similar known names, if any are similar, else all of
/// them. `other` is what else may be used: "a plan file".
std::string unknown_name(std::string_view name, const std::vector<std::string>& known,
                         std::string_view other);

/// The known names that a typing error may have turned into `name`: at most a third of its letters differ
/// (restricted Damerau-Levenshtein distance), or one begins with the other. Nearest first, at most three.
std::vector<std::string> similar_names(std::string_view name, const std::vector<std::string>& known);

}  // namespace gnomon::base
