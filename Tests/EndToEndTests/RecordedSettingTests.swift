import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Settings that an earlier version took", .runsPrograms)
struct RecordedSettingTests {
  @Test("Results of a run with a length without unit can still be looked at; the reason is told")
  func looked() throws {
    let scene = try Scene("a", frames: 2)
    try scene.run("--set depth.range=1m..9m").succeeds()
    let memo = scene.output.appending("a/.scanmill/memo.json").string
    let text = try FilePath(memo).text()
    try #require(text.contains("1m..9m"))
    try Data(text.replacing("1m..9m", with: "1..9").utf8).write(to: URL(filePath: memo))
    try Program.run("status \(scene.output)").succeeds()
    let explained = try Program.run("explain a depth --output \(scene.output)").succeeds()
    #expect(
      explained.output.contains("'1..9' is not two lengths with their units"),
      "\(explained.output)")
    let again = try scene.run("--set depth.range=1m..9m --json")
    #expect(
      again.status == 0 && again.output.contains("\"upToDate\" : 1"), "\(again.output)")
  }

  @Test("A setting of an export that an earlier run asked for holds in runs that name nothing")
  func ofExport() throws {
    let scene = try Scene("a", frames: 2)
    try scene.run("--export ply").succeeds()
    try scene.run("--set export-ply.pixels=3").succeeds()
    let again = try scene.run("")
    #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
    let back = try scene.run("--set export-ply.pixels=default")
    #expect(back.status == 0 && back.errors.contains("3 → 1: replaces"), "\(back.errors)")
  }
}
