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

/// Scripts of the project's own, by the system's Python and its standard library only.
public enum PythonScript {
  public typealias Result = Running.Result

  /// Runs to the end.
  public static func run(
    _ words: [String], environment: [String: String]? = nil, in folder: FilePath? = nil
  ) throws -> Result {
    try run("/usr/bin/env", ["python3"] + words, environment, folder)
  }

  /// Runs any program to the end.
  public static func run(
    _ program: String, _ words: [String], _ environment: [String: String]?, _ folder: FilePath?
  ) throws -> Result {
    try Running(FilePath(program), words, in: folder, environment: environment).finish()
  }

  /// Why there is none; empty: there is one. Printed once.
  public static let absence: String = {
    if ForeignPrograms.areLeftOut { return ForeignPrograms.absence }
    if (try? run(["--version"]))?.status == 0 { return "" }
    let text = "there is no python3 in PATH: what needs the fake or the real Slurm is not run"
    print("skipped: \(text)")
    return text
  }()

  public static var isPresent: Bool { absence.isEmpty }
}

/// Shell scripts that take the place of programs in tests.
public enum ShellScript {
  struct NotWritten: Error { let path: FilePath }

  /// Writes an executable script. Another process writes it: while this one had the file open, a program that
  /// another test starts at that moment would inherit it, and the script could not be started ("Text file busy").
  public static func write(_ text: String, to path: FilePath) throws {
    let writing = try Running(
      "/bin/sh", ["-c", #"printf '%s' "$0" > "$1" && chmod 755 "$1""#, text, path.string])
    guard try writing.finish().status == 0 else { throw NotWritten(path: path) }
  }
}

/// Pages in headless Chromium, by `Tests/Browser/check_pages.py`: phone and desktop, light and dark, printed,
/// sorted, filtered, validated.
public enum Browser {
  private static let python = "/usr/bin/python3"
  private static let script = Fixtures.projectRoot.appending("Tests/Browser/check_pages.py")

  /// What the script needs and does not find; empty: nothing. Printed once.
  public static let absence: String = {
    if ForeignPrograms.areLeftOut { return ForeignPrograms.absence }
    var missing = ["chromium", "chromedriver"].filter { program in
      !["/usr/bin", "/usr/local/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
      }
    }
    if (try? run([python, "-c", "import selenium"]))?.status != 0 { missing.append("selenium") }
    if missing.isEmpty { return "" }
    let text =
      "\(missing.joined(separator: ", ")) not found: pages are not opened in a browser (apt-get install chromium chromium-driver python3-selenium)"
    print("note: \(text)")
    return text
  }()

  public static var isPresent: Bool { absence.isEmpty }

  /// Checks files of pages. Status 0: nothing is wrong; else `output` has a line per problem.
  public static func check(_ pages: [String]) throws -> (status: Int32, output: String) {
    let result = try run([python, script.string] + pages)
    for line in result.output.split(separator: "\n") where line.hasPrefix("note:") { print(line) }
    return result
  }

  /// Checks pages of a server.
  public static func check(served addresses: [String]) throws -> (status: Int32, output: String) {
    let script = Fixtures.projectRoot.appending("Tests/Browser/check_served.py")
    return try run([python, script.string] + addresses)
  }

  /// For somebody who wants to look at a page of a test: kept in the folder that `SCANMILL_PAGES` names.
  public static func keep(_ page: [UInt8], as name: String) {
    guard let folder = ProcessInfo.processInfo.environment["SCANMILL_PAGES"] else { return }
    try? Data(page).write(to: URL(filePath: "\(folder)/\(name)"))
  }

  private static func run(_ words: [String]) throws -> (status: Int32, output: String) {
    let result = try Running(FilePath(words[0]), Array(words.dropFirst()), mergesErrors: true)
      .finish()
    return (result.status, result.output)
  }
}
