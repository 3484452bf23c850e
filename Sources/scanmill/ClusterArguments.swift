import ArgumentParser
import Cluster
import Engine
import Core
import SystemPackage

/// The options of `run` that concern a batch system.
struct ClusterArguments: ParsableArguments {
  @Option(help: "Where captures are processed: local, or slurm (a cluster; docs/slurm.md).")
  var executor: ClusterProfile.Executor?

  @Option(
    help: ArgumentHelp(
      "How the cluster is used: a YAML file; the command line takes precedence.", valueName: "file"),
    completion: Completion.settingsFile)
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "Captures per element, or the work that an element should hold, such as 12 or 10m.",
      valueName: "number|duration"))
  var group: String?

  @Flag(help: "Submit everything and end; a job that follows concludes the run.")
  var detach = false

  @Option(
    help: ArgumentHelp(
      "With --detach: a command that is given the report at the end.", valueName: "command"))
  var notify: String?

  @Flag(help: "Show what would be submitted; submits nothing.")
  var printJobs = false

  func validate() throws {
    if let group, GroupLimit(group) == nil {
      throw ValidationError(
        "--group is a number of captures such as 12, or a duration such as 10m, not '\(group)'")
    }
    if notify != nil, !detach {
      throw ValidationError(
        "--notify goes with --detach: otherwise the caller knows when the run ends")
    }
    if executor == .local, detach || printJobs || group != nil {
      throw ValidationError("--detach, --group and --print-jobs go with --executor slurm")
    }
  }

  /// The profile with the options of the command line. Throws for errors in the file.
  func clusterProfile() throws -> ClusterProfile {
    var known = ClusterProfile()
    if let profile {
      let path = FilePath(text: profile)
      let text: String
      do {
        text = try MappedFile(path).withBytes { bytes in
          bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
      } catch {
        throw CommandFailure(ExitStatus.badPipeline, "\(error)")
      }
      known = try ProfileReader.read(text, file: profile)
    }
    known.executor = executor ?? known.executor
    known.group = group.flatMap(GroupLimit.init) ?? known.group
    if known.executor != .slurm, detach || printJobs || group != nil {
      throw ValidationError("--detach, --group and --print-jobs go with --executor slurm")
    }
    return known
  }
}

extension ClusterProfile.Executor: ExpressibleByArgument {}
