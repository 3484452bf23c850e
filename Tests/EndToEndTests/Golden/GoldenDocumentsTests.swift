import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// What programs of others read and what people see, in `Tests/Snapshots/golden`. After a deliberate change
/// `SCANMILL_SNAPSHOTS=1 swift test --filter GoldenDocumentsTests` writes them anew; `git diff` shows what has changed.
@Suite("Every document about captures in every state, byte by byte", .runsPrograms)
struct GoldenDocumentsTests {
  /// Nothing may depend on the number of cores or the free memory.
  private static let run = "scanmill run in -o out -j 1 --memory 2GB"
  private static let pipeline = "--pipeline pipeline.yaml"

  private func check(_ text: String, _ name: String) throws {
    try Snapshots.check(text, "golden/\(name)")
  }

  @Test("What is printed and written about them is what it was")
  func captures() throws {
    let scene = try GoldenScene()
    let (run, pipeline) = (Self.run, Self.pipeline)
    try check(
      scene.printed([
        "scanmill inspect in", "scanmill inspect in/whole", "scanmill inspect in --json",
      ]), "inspect")
    try check(
      scene.printed(["\(run) -n \(pipeline)", "\(run) -n \(pipeline) --json"]), "plan-before")
    try check(
      scene.printed([
        "\(run) --pipeline exports --id whole,geo --json -q", "\(run) \(pipeline) --exclude later",
      ]), "run")
    try scene.spoil()
    try check(
      scene.printed([
        "scanmill mark done-as-is out/accepted --note 'good enough' --json",
        "scanmill mark ignore out/broken --until 2099-12-31",
        "scanmill mark retire out/retired --yes --json", "scanmill clean out --stage thumbnail",
      ]), "mark")
    var lock: FileLock? = try scene.hold()
    try check(
      scene.printed([
        "\(run) -n \(pipeline) --set imu.window=20ms", "\(run) -n \(pipeline) --json",
        "\(run) \(pipeline) --id held --no-wait -R imu",
      ]), "plan")
    try check(
      scene.printed([
        "scanmill status out --staging in",
        "scanmill status out --set imu.window=30ms --all", "scanmill status out/whole",
        "scanmill status out --staging in --json", "scanmill status out --staging in --csv",
      ]), "status")
    try check(
      scene.printed([
        "scanmill report out --since 24h --format json",
        "scanmill report out --since 24h --format csv",
        "scanmill report out --since 24h --format json --redact", "scanmill report out --since 24h",
      ]), "report")
    for (name, page) in [
      ("page-night", "index.html"), ("page-capture", "changed/report.html"),
      ("page-failed", "broken/report.html"),
    ] {
      try check(scene.text("\(scene.output)/\(page)"), name)
    }
    let questions = [
      "whole color,imu", "bad check,report", "broken depth-frames,depth", "altered color",
      "partial color", "torn color", "gone color", "geo aligned", "held color", "lacking imu",
      "changed imu --set imu.window=20ms",
    ].map { "scanmill explain -o out \(pipeline) \($0)" }
    let each = questions.dropFirst(3).map { "\($0) --json" }
    try check(
      scene.printed(
        questions + each + ["scanmill explain frame-gap", "scanmill explain frame-gap --json"]),
      "explain")
    withExtendedLifetime(lock) {}
    lock = nil

    let whole = ["whole", "geo", "warned"]
    for name in whole { try check(scene.documents(in: name), "capture-\(name)") }
    try check(
      scene.documents(in: "") { name in
        name.hasSuffix("capture.json") && !whole.contains { name.hasPrefix("\($0)/") }
      }, "captures")
    try check(
      scene.documents(in: "runs") + scene.events(of: ["whole", "bad", "broken"]), "runs")
    try check(
      scene.printed(["\(run) \(pipeline) --exclude later --json", "\(run) \(pipeline) -n"]), "again"
    )
  }

  @Test("What the program measures, with figures masked, and says of itself is what it was")
  func itself() throws {
    let scene = try GoldenScene()
    let bench = "scanmill bench in/whole --pipeline preview --repeat 1 --warmup 0 -q -j 1"
    try check(scene.printed(["\(bench) --json", "\(bench) --csv"], .figures), "bench")
    try check(
      scene.printed([
        "scanmill list parameters imu,color --json", "scanmill list stages --json",
        "scanmill list families --json",
        "scanmill view in/whole -o look.png --json",
      ]), "itself")
  }
}
