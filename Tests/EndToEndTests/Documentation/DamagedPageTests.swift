import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// The examples of the documentation on captures whose frames lack pictures, depth or poses.
@Suite("The documentation's examples on damaged captures", .runsPrograms)
struct DamagedPageTests {
  private static let absence = ReaderScript.absence(
    of: "numpy, pandas, cv2, h5py", for: "no example is run on a damaged capture")

  /// A capture, processed.
  struct Damaged: Sendable, CustomTestStringConvertible {
    let name: String
    let family: String
    /// What `synthesize` is told; empty: a fixture.
    var faults: [String] = []
    var generation: String?
    /// Frames at the beginning that get no picture.
    var firstPicture = 0

    var testDescription: String { name }
    var isThere: Bool { !faults.isEmpty || Fixtures.arePresent }

    /// Depth, color and poses have holes, each at other frames.
    static let worlds = [
      Damaged(
        name: "synthetic", family: "arkit-scanner",
        faults: ["corrupt-record", "nan-pose"], firstPicture: 2),
      Damaged(
        name: "synthetic-lidar", family: "multiscan",
        faults: ["broken-line", "short-confidence", "short-video"], generation: "ios-lidar",
        firstPicture: 1),
      Damaged(name: "damaged", family: "arkit-scanner"),
    ]

    static let inertial = [
      worlds[0],
      Damaged(name: "scannet", family: "scannet", faults: ["imu-gap", "corrupt-depth"]),
      Damaged(name: "session", family: "vi-slam", faults: ["dropped-pictures", "imu-gap"]),
      Damaged(
        name: "single", family: "multiscan", faults: ["motion-partial"], generation: "ios-single"),
      Damaged(
        name: "no-gravity", family: "multiscan", faults: ["missing-grav"],
        generation: "ios-single"),
      Damaged(
        name: "android", family: "multiscan", faults: ["motion-partial"],
        generation: "android-plain"),
      Damaged(name: "lidar", family: "multiscan", faults: ["gap"], generation: "ios-lidar"),
      Damaged(name: "place", family: "strabo", faults: ["no-fix"]),
      Damaged(name: "no-imu", family: "arkit-scanner", faults: ["imu-empty"]),
      Damaged(name: "damaged", family: "arkit-scanner"),
    ]
  }

  /// A damaged capture in a folder, and its output in `out`.
  private struct Place {
    let folder: TemporaryFolder
    let id: String
    private let input: FilePath
    private let damaged: Damaged

    init(_ damaged: Damaged) throws {
      self.damaged = damaged
      folder = try TemporaryFolder()
      guard !damaged.faults.isEmpty else {
        let found = try #require(
          FixtureTests.all.first {
            $0.folder.removingLastComponent().lastComponent?.string == damaged.family
              && $0.name == damaged.name
          })
        input = found.input
        id = ""
        return
      }
      id = "a"
      input = folder.path.appending("in/a")
      try Program.synthesize(
        """
        \(damaged.family) --frames 30 --width 160 --height 120 --id \(id) --empty-room --noise 0 \
        --exposure 0 --truth-pictures 0 --frame-code \
        \(damaged.generation.map { ["--generation", $0] } ?? []) --fault \(damaged.faults)
        """, to: input.removingLastComponent())
    }

    func run(_ words: [String]) throws -> Program.Result {
      try Program.run(
        "run \(input) --output out --set color.first=\(damaged.firstPicture) \(words)",
        in: folder.path)
    }

    /// The folder of the capture in the output, relative.
    func output() throws -> String {
      let names = try FileSystem.names(in: folder.path.appending("out"))
      return "out/" + (try #require(names.first { $0 != "runs" && !$0.hasPrefix(".") }))
    }

    func write(_ text: String, _ name: String) throws -> String {
      let file = folder.path.appending(name).string
      try FilePath(file).write(text)
      return file
    }

    /// Runs blocks of a page one after the other, in the folder.
    func blocks(_ page: String) throws -> PythonScript.Result {
      let script = Fixtures.projectRoot.appending("Tests/Readers/blocks.py").string
      return try PythonScript.run(
        ReaderScript.python, [script, try write(page, "page.md")], nil, folder.path)
    }
  }

  private static func page(_ name: String) throws -> String {
    try Fixtures.projectRoot.appending("docs/\(name).md").text()
  }

  /// The page with `capture` as the capture of all its examples.
  private static func recipes(for capture: String) throws -> String {
    try page("recipes").replacing(try Regex(#"Path\("out/[^"]*"\)"#), with: "Path(\"\(capture)\")")
  }

  @Test(
    "Recipes find frames, depth and poses that belong together, and two frames agree in the world",
    .enabled(if: absence.isEmpty, "needs .build/readers"),
    arguments: Rounds.every(2, of: Damaged.worlds))
  func recipes(_ damaged: Damaged) throws {
    guard damaged.isThere else { return print("skipped: no fixtures") }
    let place = try Place(damaged)
    let run = try place.run(["--until", "aligned", "--until", "tables", "--until", "imu"])
    #expect(run.status <= 1, "\(run.errors)")
    let capture = try place.output()
    // What a frame's cells name is of that frame, and some frames lack something.
    let check = """

      ```python
      for column in ["color", "depth", "aligned"]:
          for frame, name in frames[column].dropna().items():
              assert int(Path(name).stem) == frame, (column, frame, name)
      assert len(whole) and set(whole) <= set(poses.index) & set(cameras.index), whole
      assert len(whole) < len(frames), "nothing is damaged"
      ```
      """
    let result = try place.blocks(try Self.recipes(for: capture) + check)
    print(result.output)
    #expect(result.status == 0, "\(result.output) \(result.errors)")
    #expect(result.output.contains(" 0 failed"))
  }

  @Test(
    "The IMU recipes work with the sensors of every family, and without any",
    .enabled(if: absence.isEmpty, "needs .build/readers"),
    arguments: Rounds.every(5, of: Damaged.inertial))
  func inertial(_ damaged: Damaged) throws {
    guard damaged.isThere else { return print("skipped: no fixtures") }
    let place = try Place(damaged)
    let run = try place.run(["--until", "tables", "--until", "imu"])
    #expect(run.status <= 1, "\(run.errors)")
    let capture = try place.output()
    let whole = try Self.recipes(for: capture)
    let parts = whole.components(separatedBy: "\n## ")
    let part = try #require(parts.first { $0.hasPrefix("Color and IMU together") })
    let start = """
      ```python
      from pathlib import Path

      import cv2
      import numpy as np
      import pandas as pd

      times = {name: "Int64" for name in ["timestamp_ns", "color_timestamp_ns", "depth_timestamp_ns"]}
      ```

      """
    let check = """

      ```python
      recorded = set(imu.sensor_type)
      assert rotation.empty == (not recorded & {"gyroscope", "rotationRate"}), recorded
      assert specific_force.empty == (
          "accelerometer" not in recorded and not {"userAcceleration", "gravity"} <= recorded), recorded
      ```
      """
    let result = try place.blocks(start + part + check)
    print("\(damaged.name): \(result.output)")
    #expect(result.status == 0, "\(result.output) \(result.errors)")
    #expect(result.output.contains("5 blocks ran, 0 skipped, 0 failed"), "\(result.output)")
  }

  @Test(
    "The HDF5 container holds each picture beside its own pose",
    .enabled(if: absence.isEmpty, "needs .build/readers"),
    arguments: Rounds.some(of: Damaged.worlds, 1))
  func container(_ damaged: Damaged) throws {
    guard damaged.isThere else { return print("skipped: no fixtures") }
    let place = try Place(damaged)
    let page = try Self.page("exports")
    func block(_ language: String) throws -> String {
      let parts = page.components(separatedBy: "\n```\(language)\n")
      return try #require(parts.last?.components(separatedBy: "\n```").first) + "\n"
    }
    _ = try place.write(try block("python"), "to_hdf5.py")
    let pipeline = try block("yaml")
      .replacing("[python3, to_hdf5.py", with: "[\(ReaderScript.python), to_hdf5.py")
      .replacing("to_hdf5.py", with: place.folder.path.appending("to_hdf5.py").string)
    let run = try place.run(["--pipeline", try place.write(pipeline, "pipeline.yaml")])
    #expect(run.status <= 1, "\(run.errors)")
    let check = """
      ```python
      import csv, pathlib, cv2, h5py, numpy

      capture = pathlib.Path("\(try place.output())")
      poses = {int(row["frame"]): [float(v) for v in list(row.values())[2:]]
               for row in csv.DictReader(open(capture / "tables/poses.csv"))}
      pictures = {int(p.stem): p for p in (capture / "color").iterdir() if p.suffix == ".png"}
      with h5py.File(capture / "hdf5/frames.h5") as file:
          frames = list(file["frame"])
          assert frames == sorted(pictures), frames
          assert len(file["color"]) == len(file["pose"]) == len(frames)
          for position, frame in enumerate(frames):
              assert (file["color"][position] == cv2.imread(str(pictures[frame]))[..., ::-1]).all(), frame
              row = file["pose"][position]
              assert (list(row) == poses[frame]) if frame in poses else numpy.isnan(row).all(), frame
      assert set(frames) != set(poses), "nothing is damaged"
      print(f"{len(frames)} pictures, {len(set(frames) & set(poses))} with a pose")
      ```
      """
    let result = try place.blocks(check)
    print(result.output)
    #expect(result.status == 0, "\(result.output) \(result.errors)")
  }
}
