#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// Where some of a machine's numbers are printed.
struct Source {
  std::vector<std::string> of;  ///< fields of the machine: "cpu.cores"
  std::string where;            ///< document and place
  std::string date;             ///< of the document

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("of", self.of);
    f.required("where", self.where);
    f.required("date", self.date);
  }
};

/// A machine that nobody measured for gnomon: a paper's, or one that can be rented. Fields that are not
/// public are left out and count as not known.
struct CatalogMachine {
  static constexpr std::string_view schema = "gnomon.machine/1";
  std::string name;
  std::string about;
  std::string read;  ///< the day on which the sources were read
  std::vector<Source> sources;
  MachineProfile machine;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f("about", self.about);
    f("read", self.read);
    f("sources", self.sources);
    f.required("machine", self.machine);
  }
};

/// The machines built into the program (profiles/catalog), by name.
std::vector<CatalogMachine> catalog();

/// One of them by its name or, when `name` ends in .json, a file of the same form. Throws InputError.
CatalogMachine find_machine(const std::string& name);

/// The profile as it would be on another machine. What was measured is scaled by what both machines tell:
/// - training and preparing on the device by their memory bandwidths (a host device's is the host's);
/// - copies and reads over the link by the links' bandwidths, or where the measured machine had no link, the
///   batch's bytes over the new one (at the speed of a core's copies where the new one's is not known); a
///   host device neither reads over one nor copies.
/// Times stay where one of the two numbers is not known, and so does what a core does, batching and copying,
/// for no specification tells how fast it is. Contention stays unless the other machine gives its own;
/// corrections, which real runs on the measured machine gave, do not.
Profile on_machine(Profile profile, const MachineProfile& machine);

}  // namespace gnomon::profiles
