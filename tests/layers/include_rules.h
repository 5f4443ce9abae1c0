#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gnomon::layers {

/// The layer rule on one source file: the sentence for each `#include` that breaks it, "path:line: …". `path`
/// is relative to the project's root, with '/'. Our own headers may come from the file's own layer or one
/// before it; tests and bench may include all. LibTorch, SimGrid and CUDA have their places (see the .cpp).
std::vector<std::string> broken_rules(std::string_view path, std::string_view text);

}  // namespace gnomon::layers
