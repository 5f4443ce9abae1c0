#pragma once

#include <string>

#include "sim/prediction.h"

namespace gnomon::apps {

/// A prediction with its timeline as bytes, to the last bit, for the way between processes of one program.
std::string pack(const sim::Prediction& prediction);
sim::Prediction unpack(const std::string& bytes);

}  // namespace gnomon::apps
