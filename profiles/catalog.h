#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/machine_key.h"
#include "profiles/profile.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

/// A source for some of a machine's numbers.
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

/// A machine from its specification (of a paper, or for rent), or as `gnomon machine` measured it.
/// Unpublished fields are absent, that is, unknown.
struct CatalogMachine {
  static constexpr std::string_view schema = "gnomon.machine/1";
  std::string name;
  std::string about;
  std::string read;  ///< the day on which the sources were read
  std::vector<Source> sources;
  MachineProfile machine;
  std::optional<MachineSpeeds> speeds{};  ///< absent if it was not measured
  std::optional<MachineKey> key{};        ///< of a measured machine, for the machine store

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f("about", self.about);
    f("read", self.read);
    f("sources", self.sources);
    f.required("machine", self.machine);
    f("speeds", self.speeds);
    f("key", self.key);
  }
};

/// Reads a machine's document and checks its speeds. Throws InputError.
CatalogMachine read_machine(const std::filesystem::path& path);

/// Returns the machines built into the program (profiles/catalog), sorted by name.
std::vector<CatalogMachine> catalog();

/// Returns one of them by its name, or reads a file of the same form. Throws InputError that names `where` if
/// there is none.
CatalogMachine find_machine(const std::string& name, const std::string& where = "--machine");

/// The number of operations (kernels, copies, fills) that the host launches on a GPU to prepare and to train
/// a mini-batch.
struct LaunchesOfBatch {
  std::int64_t preparing = 0;
  std::int64_t training = 0;
};

/// The launches of a model with dropout, without norms and skip connections, and with `layers` >= 2 layers on
/// mini-batches of a few thousand edges. Verified by tests/launches.
LaunchesOfBatch launches_of_batch(plan::ModelKind model, int layers);

/// The launches to train a mini-batch by a recorded step (plan field "graphs"): the copy to where the
/// recording reads it, and the recording.
inline constexpr std::int64_t launches_of_graph_step = 2;

/// How a stage's time was scaled when its profile was moved to another machine.
struct StageScaling {
  std::string stage;               ///< "cpu_batch", "transfer", "device_batch", "train"
  std::optional<double> factor{};  ///< new over measured time; none if the time was kept or is new
  bool is_new = false;             ///< the measured machine had no such stage
  std::string reason;              ///< the numbers that scaled it, or the one that is unknown
  /// Half width of the 95 % confidence interval of `factor`, relative to it (SpeedRatio::interval); none if
  /// `factor` comes from data sheets.
  std::optional<double> interval{};
  std::optional<double> bound_s{};  ///< minimum of the new time by the peaks of data sheets; none if unknown

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("stage", self.stage);
    f("factor", self.factor);
    f("is_new", self.is_new);
    f.required("reason", self.reason);
    f("interval", self.interval);
    f("bound_s", self.bound_s);
  }
};

/// What the times of a profile on another machine are based on.
enum class MovedBy : std::uint8_t {
  nothing,     ///< the profile was not moved
  speeds,      ///< both machines' measured speeds; the interval of each stage is known
  bandwidths,  ///< data sheets; no interval is known
  both,        ///< some stages by speeds, others by data sheets
};

/// A profile moved to another machine, with the scaling of each stage.
struct MovedProfile {
  Profile profile;
  std::vector<StageScaling> scalings;  ///< of each stage
};

/// Moves a profile to another machine. Measured times are scaled by the known specifications of both
/// machines:
/// - training and preparing on the device by their memory bandwidths (a host device's is the host's); on a
///   GPU neither takes less than the launches of its kernels, unless the measured time did;
/// - copies and reads over the link by the links' bandwidths. If the measured machine had no link, a batch's
///   bytes go over the new one, at the speed of one core's copies if the new bandwidth is unknown. A host
///   device neither reads over a link nor copies.
/// No stage on a GPU becomes faster than the peaks of data sheets allow (data_sheet_bounds()).
/// A time is kept if one of the two numbers is unknown. CPU preparation and copying are also kept, because
/// specifications do not include the speed of a core. Contention is kept unless the other machine specifies
/// its own. Corrections, which come from real runs on the measured machine, are dropped, and so are the
/// confidence intervals of all stages: how far bandwidths are off is unknown.
MovedProfile move_to_machine(const Profile& profile, const MachineProfile& machine);

/// Moves a profile to a machine whose own speeds were measured, as were those `from` of the machine of the
/// profile: times of preparation and training are scaled by counts over speeds (speed_ratio.h), and their
/// confidence intervals get wider by that ratio's; speed-ups by threads and the efficiency of workers follow
/// what several cores do of each kind of work. What speeds do not tell is scaled as above. If both speeds
/// are the same, bit for bit, it is the same machine: times and corrections stay. Without speeds on either
/// side it is move_to_machine() above.
MovedProfile move_to_machine(const Profile& profile, const CatalogMachine& machine,
                             const std::optional<MachineSpeeds>& from);

/// The speeds in the document that the user names as that of the machine that is or was `measured`. Throws
/// InputError that names `where` if it has no speeds, or if it is of another processor, number of cores or
/// GPU.
MachineSpeeds speeds_of(const CatalogMachine& machine, const MachineProfile& measured,
                        const std::string& where);

/// Returns only the profile of move_to_machine.
Profile on_machine(const Profile& profile, const MachineProfile& machine);

/// What these stages were scaled by.
MovedBy moved_by(std::span<const StageScaling> scalings);

/// "train x1.56 (device memory bandwidth 933 to 600 GB/s)", "train x1.56 +-9 % (measured dense_fp32)", or
/// "cpu_batch kept (…)".
std::string text_of(const StageScaling& scaling);
/// These texts, separated by "; ", with a note if none of them is based on measured speeds.
std::string text_of(std::span<const StageScaling> scalings);

}  // namespace gnomon::profiles

namespace gnomon::base {
template <>
struct EnumNames<profiles::MovedBy> {
  using MovedBy = profiles::MovedBy;
  static constexpr std::array<std::pair<MovedBy, std::string_view>, 4> values{
      {{MovedBy::nothing, "not moved"},
       {MovedBy::speeds, "speeds"},
       {MovedBy::bandwidths, "bandwidths"},
       {MovedBy::both, "speeds and bandwidths"}}};
};
}  // namespace gnomon::base
