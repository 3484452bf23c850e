@testable import Media
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Tables that correct the distances of a sensor", .runsPrograms)
struct DepthTableTests {
  private let folder: TemporaryFolder
  private var input: String { folder.path.appending("in").string }
  private var table: FilePath { folder.path.appending("lab.lut") }

  init() throws { folder = try TemporaryFolder() }

  private func make(_ family: String) throws {
    try Program.synthesize(
      "\(family) --frames 2 --seed 5 --width 160 --height 120 --id a", to: input)
  }

  /// One cell for each 64×48 pixels of ScanNet's depth, one slice, one value.
  private func writeTable(_ value: Float, cells: (Int32, Int32) = (10, 10)) throws {
    let words =
      [UInt32(cells.0), UInt32(cells.1), 1, Float(5).bitPattern]
      + [UInt32](repeating: value.bitPattern, count: Int(cells.0 * cells.1))
    let bytes = words.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
    }
    try table.write(bytes)
  }

  private func run(_ output: String, _ settings: [String], _ more: String...) throws
    -> (result: Program.Result, stages: [String: [String: Any]])
  {
    let result = try Program.run(
      ["run", input, "--output", folder.path.appending(output).string, "--json"]
        + settings.flatMap { ["--set", $0] } + more)
    return (result, result.status > 1 ? [:] : try ExportScene.stages(result))
  }

  private func place(_ output: String, _ stage: String) -> FilePath {
    folder.path.appending(output).appending("a").appending(stage)
  }

  private func device() throws -> String {
    let inspection = try Program.run("inspect \(input)/a --quick --json")
    return try #require((try inspection.json()["device"] as? [String: Any])?["id"] as? String)
  }

  @Test(
    "A table reruns depth and aligned alone; distances are divided by its value; without it all is as before"
  )
  func plain() throws {
    try make("scannet")
    try writeTable(1.25)
    #expect(try run("out", []).result.status == 0)
    let before = try Self.values(place("out", "depth"))
    let corrected = try run("out", ["depth.undistortion=\(table)"])
    #expect(corrected.result.status == 0, "\(corrected.result.errors)")
    let ran = corrected.stages.filter { $0.value["outcome"] as? String == "made" }.keys
    #expect(Set(ran) == ["depth", "aligned", "tables", "preview"])
    let after = try Self.values(place("out", "depth"))
    #expect(before.count == after.count && before.contains { $0 > 0 })
    for (old, new) in zip(before, after) {
      #expect(abs(Double(new) - Double(old) / 1.25) <= 0.5001)
    }
    // It stays until it is taken back.
    #expect(try run("out", []).result.status == 0)
    #expect(try Self.values(place("out", "depth")) == after)
    #expect(try run("out", ["depth.undistortion=default"]).result.status == 0)
    #expect(try Self.values(place("out", "depth")) == before)
  }

  private static func values(_ folder: FilePath) throws -> [UInt16] {
    try PNGReader.depth(at: folder.appending("000001.png")).millimeters
  }

  @Test(
    "The folder gives the device its table, and inspect names it; a device without one keeps its depth"
  )
  func byDevice() throws {
    try make("scannet")
    try writeTable(0.5)
    let id = try device()
    let lab = folder.path.appending("lab")
    try FileSystem.makeFolder(lab)
    try table.move(to: lab.appending("pad.lut"))
    let devices = URL(filePath: lab.appending("devices.csv").string)
    try Data("id,name,calibration_name\n\(id),\"a, b\",pad\n".utf8).write(to: devices)
    #expect(try run("plain", []).result.status == 0)
    #expect(try run("out", ["depth.calibrationFolder=\(lab)"]).result.status == 0)
    let before = try Self.values(place("plain", "depth"))
    let after = try Self.values(place("out", "depth"))
    #expect(zip(before, after).allSatisfy { Int($0) * 2 == Int($1) || Int($0) * 2 > 65_535 })
    let text = try Program.run("inspect \(input)/a --calibration-folder \(lab)")
    #expect(text.output.contains("distances of depth: \(lab)/pad.lut"), "\(text.output)")
    try Data("id,calibration_name\n\(id),\n".utf8).write(to: devices)
    #expect(try run("out", ["depth.calibrationFolder=\(lab)"]).result.status == 0)
    #expect(try Self.values(place("out", "depth")) == before)
    try Data("id,calibration_name\nx,a\nx,b\n".utf8).write(to: devices)
    let refused = try run("out", ["depth.calibrationFolder=\(lab)"]).result
    #expect(refused.status == 64 && refused.errors.contains("is listed twice"), "\(refused.errors)")
  }

  @Test("A table of another kind of sensor, a cut one, and one that loses pixels are told")
  func refused() throws {
    try make("arkit-scanner")
    try writeTable(1.25)
    let other = try run("out", ["depth.undistortion=\(table)"])
    #expect(other.result.status == 1)
    let message = other.stages["depth-frames"]?["message"] as? String ?? ""
    #expect(
      message.contains("does not apply to this capture: its depth is not that of a structured"),
      "\(message)")
    try FileManager.default.removeItem(atPath: input)
    try make("scannet")
    try writeTable(-321)
    let lost = try run("lost", ["depth.undistortion=\(table)"])
    #expect(lost.result.status == 0, "\(lost.result.errors)")
    #expect(lost.result.output.contains("calibration-suspect"))
    #expect(try Self.values(place("lost", "depth")).allSatisfy { $0 == 0 })
    let bytes = try table.data()
    try table.write(bytes.dropLast())
    let cut = try run("cut", ["depth.undistortion=\(table)"]).result
    #expect(cut.status == 64, "\(cut.errors)")
    #expect(
      cut.errors.contains("has 415 bytes; a table of 10 × 10 × 1 cells has exactly 416"),
      "\(cut.errors)")
  }

  @Test(
    "Depth is what another program makes of the description of the format",
    .enabled(if: Readers.arePresent, "needs .build/readers"))
  func independent() throws {
    try make("scannet")
    let made = try Readers.depthTable(["make", table.string])
    try #require(made.status == 0, "\(made.output)")
    #expect(try run("plain", [], "--until", "depth").result.status == 0)
    #expect(
      try run("out", ["depth.undistortion=\(table)"], "--until", "depth").result.status == 0)
    let checked = try Readers.depthTable([
      "check", place("plain", "depth").string, place("out", "depth").string, table.string,
    ])
    #expect(checked.status == 0, "\(checked.output)")
    print(checked.output)
  }

  @Test(
    "A calibrated .sens has undistorted color, and depth of its pinhole at its own size, 0 where color shows nothing",
    .enabled(if: Readers.arePresent, "needs .build/readers"),
    arguments: Rounds.some(of: [0.1, -0.12], 1))
  func calibratedSens(_ k1: Double) throws {
    try make("scannet")
    let inspection = try Program.run("inspect \(input)/a --quick --json")
    var alignment = try inspection.json().object("alignment")
    let lens = ["k1": k1, "k2": 0.03, "p1": 0.001, "p2": -0.002, "k3": 0.0]
    alignment["distortion"] = ["color": lens, "depth": lens]
    alignment["schema"] = 1
    let lab = folder.path.appending("lab.json")
    try lab.write(json: alignment)
    try writeTable(1.25)
    let calibration = [
      "depth.undistortion=\(table)", "aligned.calibration=\(lab)",
      "export-sens.calibration=\(lab)",
    ]
    #expect(try run("plain", [calibration[0]], "--until", "color").result.status == 0)
    let known = try run(
      "known",
      calibration.dropLast() + [
        "color.undistort=true", "color.calibration=\(lab)", "aligned.grid=depth",
      ], "--until", "aligned")
    #expect(known.result.status == 0, "\(known.result.errors)")
    let made = try run(
      "out", calibration + ["export-sens.calibrated=true", "export-sens.pictures=png"], "--export",
      "sens")
    #expect(made.result.status == 0, "\(made.result.errors)")
    let compared = try Readers.compareCalibrated(
      place("out", "export-sens").appending("a.sens"), color: place("plain", "color"),
      aligned: place("known", "aligned"), calibration: lab)
    #expect(compared.status == 0, "\(compared.output)")
    print(compared.output)
  }

  @Test("Without a lens that is known a calibrated .sens is refused")
  func noLens() throws {
    try make("scannet")
    let result = try run("out", ["export-sens.calibrated=true"], "--export", "sens")
    #expect(result.result.status == 1)
    let message = result.stages["export-sens"]?["message"] as? String ?? ""
    #expect(message.contains("states no lens coefficients of its color camera"), "\(message)")
  }
}
