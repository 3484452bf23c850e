import Captures
import FoundationEssentials
import Core
import SystemPackage
import Glibc

/// The machine on which figures were measured.
public struct MachineDescription: Hashable, Sendable, Codable {
  /// Name in the network; `nil` where the machine has none.
  public var name: String?
  public var processor: String
  /// Cores that this process may use.
  public var cores: Int
  public var memoryBytes: Int64
  /// Name, version and architecture of the kernel.
  public var system: String
  /// Number of runnable processes, averaged over the last minute; above 0 other work was running.
  var loadBefore: Double?
  /// Load at the end, including the measured runs.
  var loadAfter: Double?
  /// The processor's frequency governor, such as `performance`; `unknown` if not available, as in
  /// most virtual machines.
  var governor: String?
  /// File system of the output folder, such as `ext4`.
  var fileSystem: String?

  /// This machine, from `/proc` and `uname`.
  public static func current() -> MachineDescription {
    MachineDescription(
      name: ProcessHome.hostName,
      processor: processorName(inCPUInfo: text("/proc/cpuinfo")) ?? "unknown processor",
      cores: ProcessInfo.processInfo.activeProcessorCount,
      memoryBytes: Int64(sysconf(Int32(_SC_PHYS_PAGES))) * Int64(sysconf(Int32(_SC_PAGESIZE))),
      system: systemName(), loadBefore: currentLoad(),
      governor: governor(in: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")))
  }

  /// The current load.
  static func currentLoad() -> Double? { load(inLoadAverage: text("/proc/loadavg")) }

  static func governor(in text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? "unknown"
  }

  /// Whether times of the two machines can be compared.
  func isComparable(with other: MachineDescription) -> Bool {
    processor == other.processor && cores == other.cores
  }

  /// How much other work disturbed the first run: 0 with up to half of the cores busy, which hardly
  /// affects figures, 1 with all of them busy.
  var busyShare: Double {
    guard let load = loadBefore, cores > 0 else { return 0 }
    return min(1, max(0, 2 * load / Double(cores) - 1))
  }

  /// Problems of figures measured in this state of the machine, one sentence each.
  public var warnings: [String] {
    // With half of the cores busy, measured runs wait.
    guard let load = loadBefore, load > 0.5 * Double(cores) else { return [] }
    return [
      "the machine was busy before the first run (load \(shortText(load)) on "
        + "\(Plural.text(cores, "core"))): times are too long, and ratios uncertain; measure again when it is quiet"
    ]
  }

  static func processorName(inCPUInfo text: String) -> String? {
    for line in text.split(separator: "\n") where line.hasPrefix("model name") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      return String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    return nil
  }

  static func load(inLoadAverage text: String) -> Double? {
    text.split(separator: " ").first.flatMap { Double($0) }
  }

  private static func systemName() -> String {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown system" }
    return [field(name.sysname), field(name.release), field(name.machine)].joined(separator: " ")
  }

  private static func field<Tuple>(_ characters: Tuple) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// The type of a folder's file system, for example `ext4`, from this process's mount table;
  /// `unknown` if not found.
  static func fileSystem(of folder: FilePath) -> String {
    guard let path = PathSafety.resolved(folder) else { return "unknown" }
    return fileSystem(of: path.text, inMounts: text("/proc/self/mounts")) ?? "unknown"
  }

  /// Searches lines `device place kind options 0 0` for the last one with the longest mount point
  /// that contains the path. Blanks in mount points are written `\040`.
  static func fileSystem(of path: String, inMounts text: String) -> String? {
    var best: (length: Int, kind: String)?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2 else { continue }
      let place = words[1].split(separator: "\\040", omittingEmptySubsequences: false)
        .joined(separator: " ")
      let isAround = place == "/" || path == place || path.hasPrefix(place + "/")
      if isAround, place.utf8.count >= best?.length ?? 0 {
        best = (place.utf8.count, String(words[2]))
      }
    }
    return best?.kind
  }

  /// Reads a file of `/proc`, which has no size: piece by piece, at most 1 MiB.
  static func text(_ path: String) -> String {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly) else { return "" }
    defer { try? file.close() }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < 1 << 20,
      let count = try? piece.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0
    {
      bytes += piece[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
