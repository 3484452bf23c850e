import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

/// Metrics, notes, pages and journals that cannot be written, through the built binary.
@Suite(.runsPrograms) struct UnwritableTests {
  /// Where metrics cannot go, made in `scene`'s folder.
  static let places: [(name: String, make: @Sendable (WatchScene) throws -> String)] = [
    ("no folder", { $0.folder.path.appending("none").appending("x.prom").string }),
    (
      "a folder",
      { scene in
        let place = scene.folder.path.appending("x.prom")
        try FileSystem.makeFolder(place)
        return place.string
      }
    ),
    (
      "a file in place of the folder",
      { scene in
        let file = scene.folder.path.appending("file")
        try file.write("x")
        return file.appending("x.prom").string
      }
    ),
    ("a device", { _ in "/dev/null" }), ("no such file system", { _ in "/proc/none/x.prom" }),
  ]

  @Test(arguments: places.indices)
  func `metrics that cannot be written end watch --once with 73`(_ index: Int) throws {
    let scene = try WatchScene()
    try scene.put("a")
    let file = try Self.places[index].make(scene)
    let result = try scene.once("--metrics \(file)")
    #expect(result.status == 73, "\(Self.places[index].name): \(result.errors)")
    #expect(result.errors.contains("--metrics"))
    #expect(scene.isDone("a"), "the work is done all the same")
  }

  @Test func `while watching it is told at the start, again, and when it can be written`() throws {
    let scene = try WatchScene()
    let folder = scene.folder.path.appending("later")
    let run = try scene.start("--metrics \(folder.appending("x.prom"))")
    try scene.wait("the first look") { !scene.record.isEmpty }
    try FileSystem.makeFolder(folder)
    try scene.wait("metrics") { FileSystem.exists(folder.appending("x.prom")) }
    let text = try folder.appending("x.prom").text()
    #expect(text.contains("scanmill_write_failures_total{what=\"metrics\"} "))
    #expect(!text.contains("scanmill_write_failures_total{what=\"metrics\"} 0\n"))
    let result = try run.stop()
    #expect(result.status == 143)
    #expect(result.errors.contains("there is no folder"))
    #expect(result.errors.contains("--metrics: can be written again"))
  }

  /// What lies in the output in the place of a file of ours.
  @Test(arguments: [
    ".scanmill/watch.json", ".scanmill/looks.json", "index.html", "a/report.html",
  ])
  func `notes and pages that cannot be written end watch --once with 73`(_ name: String) throws {
    let scene = try WatchScene()
    try scene.put("a")
    try scene.once().succeeds()
    let place = scene.output.appending(FilePath(name).components)
    try? FileSystem.remove(place)
    try FileSystem.makeFolder(place.appending("in-the-way"))
    try scene.put("b")
    let result = try scene.once()
    #expect(result.status == 73, "\(result.errors)")
    #expect(result.errors.contains(FilePath(name).lastComponent?.string ?? ""))
    #expect(scene.isDone("b"))
  }

  /// The command line, where the place in it cannot be written to, and the exit code.
  static let verbs: [[String]] = [
    ["view", "CAPTURE", "-o", "/proc/none/x.png"], ["view", "CAPTURE", "-o", "FILE/x.png"],
    ["view", "CAPTURE", "-o", "NONE/x.png"],
    ["synthesize", "strabo", "--frames", "2", "--output", "/proc/none"],
    ["synthesize", "strabo", "--frames", "2", "--output", "FILE/x"],
    ["run", "CAPTURE", "--output", "FILE/x"],
    ["watch", "STAGING", "--once", "--settle", "0s", "--output", "/proc/none"],
    ["watch", "STAGING", "--once", "--settle", "0s", "--output", "FILE/x"],
  ]

  @Test(arguments: verbs)
  func `what a verb writes and cannot ends with 73`(_ words: [String]) throws {
    let scene = try WatchScene()
    let capture = try scene.make("c", family: "strabo", frames: 2)
    let file = scene.folder.path.appending("file")
    try file.write("x")
    let arguments = words.map { word in
      word.replacing("CAPTURE", with: capture.string).replacing("FILE", with: file.string)
        .replacing("NONE", with: scene.folder.path.appending("none").string)
        .replacing("STAGING", with: scene.staging.string)
    }
    let result = try Program.run(arguments)
    #expect(result.status == 73, "\(words): \(result.status) \(result.errors)")
    #expect(result.errors.contains("error: "))
  }
}
