import Foundation
import SystemPackage
import Testing

/// Loaders of other people, in a Python environment of the project's own, by `Tests/Readers/check.py`.
public enum Readers {
  private static let folder = Fixtures.projectRoot.appending("Tests/Readers")
  /// Made by `make setup-test`.
  private static let python = Fixtures.projectRoot.appending(".build/readers/bin/python").string

  /// What is missing; empty: nothing. Printed once.
  public static let absence: String = {
    if ForeignPrograms.areLeftOut { return ForeignPrograms.absence }
    guard FileManager.default.isExecutableFile(atPath: python),
      (try? run([python, "-c", "import numpy, cv2"]))?.status == 0
    else {
      let text =
        ".build/readers is absent: exports are not opened by foreign loaders (make setup-test makes it; "
        + "it needs the network)"
      print("note: \(text)")
      return text
    }
    return ""
  }()

  public static var arePresent: Bool { absence.isEmpty }

  /// Formats that have a reader, by the names of the scripts.
  public static let formats: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
    return names.filter { $0.hasPrefix("read_") && $0.hasSuffix(".py") }
      .map { String($0.dropFirst(5).dropLast(3)) }.sorted()
  }()

  /// Opens exports of a capture and makes every deliberate mistake in copies of them. Status 0: all is well. A line of
  /// what is printed begins with the format. One call for several: loading the loaders takes longer than reading.
  ///
  /// - Parameter mistakes: whether mistakes are made; without them each export is opened once.
  public static func check(
    _ formats: [String], of capture: FilePath, truth: FilePath?, mistakes: Bool = true
  ) throws -> (status: Int32, output: String) {
    var words = [python, folder.appending("check.py").string, capture.string] + formats
    if !mistakes { words.append("--no-mistakes") }
    if let truth { words += ["--truth", truth.string] }
    return try run(words)
  }

  /// Writes a table of depth undistortion, or compares depth corrected by it with what the description of
  /// the format makes of it (`lut.py`). Status 0: they agree.
  public static func depthTable(_ words: [String]) throws -> (status: Int32, output: String) {
    try run([python, folder.appending("lut.py").string] + words)
  }

  /// Opens a data set of `pack` with its own library and compares it with the output (`packed.py`, `packed_hdf5.py`).
  /// Status 0: they agree.
  public static func packed(
    _ dataset: FilePath, _ output: FilePath, by script: String = "packed.py"
  ) throws -> (status: Int32, output: String) {
    try run([python, folder.appending(script).string, dataset.string, output.string])
  }

  /// Compares EXIF of an export with the tables, and its files with those of the same export without (`exif.py`), and
  /// makes every deliberate mistake. Status 0: they agree, and all were noticed.
  public static func exif(
    _ export: FilePath, plain: FilePath, capture: FilePath, hasPlace: Bool
  ) throws -> (status: Int32, output: String) {
    try run([
      python, folder.appending("exif.py").string, export.string, plain.string, capture.string,
      hasPlace ? "1" : "0",
    ])
  }

  /// Compares a calibrated `.sens` file with color pictures before undistortion, and with aligned depth on
  /// the grid of depth (`calibrated.py`). Status 0: they agree.
  public static func compareCalibrated(
    _ sens: FilePath, color: FilePath, aligned: FilePath, calibration: FilePath
  ) throws -> (status: Int32, output: String) {
    try run([
      python, folder.appending("calibrated.py").string, sens.string, color.string, aligned.string,
      calibration.string,
    ])
  }

  /// Compares the output of one capture with and without a shape of its pictures with what OpenCV makes
  /// of it. Status 0: they agree.
  public static func compareShape(
    plain: FilePath, shaped: FilePath, calibration: FilePath, size: (Int, Int), alpha: String
  ) throws -> (status: Int32, output: String) {
    try run([
      python, folder.appending("shape.py").string, plain.string, shaped.string, calibration.string,
      "\(size.0)x\(size.1)", alpha,
    ])
  }

  private static func run(_ words: [String]) throws -> (status: Int32, output: String) {
    let result = try Running(FilePath(words[0]), Array(words.dropFirst()), mergesErrors: true)
      .finish()
    return (result.status, result.output)
  }
}
