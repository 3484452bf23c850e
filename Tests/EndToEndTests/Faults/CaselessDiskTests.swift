import Foundation
@testable import Core
@testable import Engine
import SystemPackage
import TestSupport
import Testing

/// What other disks tell apart lies in one folder here, or is refused; nothing is replaced by it.
@Suite(
  "Disks that do not tell names apart by case", .runsPrograms,
  .enabled(if: FaultyDisk.absence.isEmpty, "needs root and FUSE"))
struct CaselessDiskTests {
  private static let names = ["Room", "room", "ROOM", "RUNS"]
  private let disk: FaultyDisk
  private let sound: TemporaryFolder
  private var input: FilePath { sound.path.appending("in") }

  init() throws {
    disk = try FaultyDisk(isCaseless: true)
    sound = try TemporaryFolder()
    for (number, name) in Self.names.enumerated() {
      try Program.synthesize(
        """
        stray-scanner --frames 2 --width 64 --height 48 --id \(name) --seed \(number)
        """, to: input)
      try FileSystem.remove(input.appending("\(name).truth"))
    }
  }

  @Test(arguments: ["run", "watch"])
  func `each capture has results of its own, in the same folder at every run`(_ verb: String) throws
  {
    let output = disk.place.appending("out")
    let words = verb == "watch" ? ["--once", "--settle", "100ms", "--poll", "50ms"] : []
    func owners() throws -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: try OutputCatalog.candidates(in: output).compactMap { layout in
          OwnerRecord(in: layout).map { (layout.name, FilePath(text: $0.folder).name ?? "") }
        })
    }
    _ = try Program.run("\(verb) \(input.appending("Room")) --output \(output) \(words)")
    var before: [String: String] = [:]
    for _ in 0..<2 {
      let done = try Program.run("\(verb) \(input) --output \(output) \(words)")
      #expect(done.status == 0, "\(done.output)\(done.errors)")
      let now = try owners()
      #expect(Set(now.values) == Set(Self.names))
      #expect(Set(now.keys.map { $0.lowercased() }).count == Self.names.count)
      #expect(before.isEmpty || now == before)
      before = now
    }
    for run in try FileSystem.names(in: output.appending(OutputNames.runs)) {
      #expect(RunID(run) != nil, "\(run)")
    }
  }

  @Test func `each capture that is sent is stored whole, and none replaces another`() throws {
    let staging = disk.place.appending("staging")
    let sent = try Program.receiving(into: staging) { address in
      var all = Program.Outcome(status: 0, text: "")
      for name in Self.names + Self.names {
        let one = try Program.bounded("send", input.appending(name).string, "--to", address)
        all.text += one.text
        if !one.isDone { all.status = one.status }
      }
      return all
    }
    #expect(sent.isDone, "\(sent.text)")
    let stored = try FileSystem.names(in: staging).filter { !$0.hasPrefix(".") }
    #expect(stored.count == Self.names.count)
    for name in Self.names {
      let original = try FaultScene.files(input.appending(name))
      #expect(
        try stored.contains {
          var files = try FaultScene.files(staging.appending($0))
          return files.removeValue(forKey: ".upload.json") != nil && files == original
        }, "\(name)")
    }
  }

  @Test func `a file that differs from another one of its capture by case alone is refused`() throws
  {
    let staging = disk.place.appending("staging")
    let other = sound.path.appending("other/Room")
    try FileSystem.makeFolder(other)
    try input.appending("Room/odometry.csv").copy(to: other.appending("IMU.csv"))
    var second = Program.Outcome(status: 0, text: "")
    let sent = try Program.receiving(into: staging) { address in
      let first = try Program.bounded("send", input.appending("Room").string, "--to", address)
      second = try Program.bounded("send", other.string, "--to", address, "--retries", "0")
      return first
    }
    #expect(sent.isDone, "\(sent.text)")
    #expect(second.status == 1 && second.text.contains("case"), "\(second.text)")
    #expect(
      try FaultScene.files(staging.appending("Room"))["imu.csv"]
        == FaultScene.files(input.appending("Room"))["imu.csv"])
  }
}
