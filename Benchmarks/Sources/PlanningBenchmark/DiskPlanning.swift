import Foundation

/// `scanmill run -n` over captures on disk that are all up to date.
final class DiskPlanning {
  private let program: String
  private let captures: Int
  private let folder: URL
  private let isKept: Bool

  private var input: URL { folder.appending(path: "in") }
  private var output: URL { folder.appending(path: "out") }

  /// Makes the captures unless `folder` holds them from an earlier time.
  init(program: String, captures: Int, folder: String?) throws {
    self.program = program
    self.captures = captures
    isKept = folder != nil
    self.folder =
      folder.map { URL(filePath: $0) }
      ?? FileManager.default.temporaryDirectory
      .appending(path: "scanmill-planning-\(ProcessInfo.processInfo.processIdentifier)")
    let last = self.folder.appending(path: "in/\(Self.name(captures - 1))")
    if FileManager.default.fileExists(atPath: last.path) { return }
    try make()
  }

  func cleanUp() {
    if !isKept { try? FileManager.default.removeItem(at: folder) }
  }

  func report(times: Int) throws {
    for format in [[], ["--json"]] {
      try measure("run -n \(format.joined()), \(captures) captures", times: times) {
        let printed = folder.appending(path: "printed")
        let peak = try run(
          ["run", input.path, "--output", output.path, "-n"] + format, printing: printed)
        let text = try String(contentsOf: printed, encoding: .utf8)
        let counts =
          format.isEmpty
          ? text.split(separator: "\n").last.map(String.init) ?? ""
          : "\(text.split(separator: "\"up-to-date\"").count - 1) up-to-date"
        return "\(counts); peak memory \(peak / 1024) MiB"
      }
    }
  }

  /// `status` and `report` over the same captures, as ratios to reading as many small JSON files in this
  /// process. The first look fills the catalog and is not counted.
  func answers(times: Int) throws {
    let notes = try smallFiles()
    try measure("reading \(captures) small JSON files", times: times) {
      var bytes = 0
      for note in notes {
        let data = try Data(contentsOf: note)
        bytes += try JSONSerialization.jsonObject(with: data) is [String: Any] ? data.count : 0
      }
      return "\(bytes) bytes"
    }
    let printed = folder.appending(path: "printed")
    try run(["index", output.path], printing: printed)
    for words in [
      ["status", output.path], ["status", output.path, "--json"], ["status", output.path, "--csv"],
      ["status", output.path, "--csv", "--state", "failed", "--search", "capture-0001"],
      ["report", output.path, "--format", "json"],
    ] {
      let name = ([words[0]] + words.dropFirst(2)).joined(separator: " ")
      try measure("\(name), \(captures) captures", times: times) {
        let peak = try run(words, printing: printed)
        let size = try FileManager.default.attributesOfItem(atPath: printed.path)[.size] ?? 0
        return "\(size) bytes printed; peak memory \(peak / 1024) MiB"
      }
    }
  }

  /// The owner's note of each capture: a few hundred bytes of JSON.
  private func smallFiles() throws -> [URL] {
    (0..<captures).map { output.appending(path: "\(Self.name($0))/.scanmill/owner.json") }
  }

  /// One capture and its results, copied; then a run over all, which has nothing to do but to write
  /// memos and indexes.
  private func make() throws {
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    let model = folder.appending(path: "model")
    try run(
      [
        "synthesize", "arkit-scanner", "--output", model.path, "--frames", "3", "--rate", "5",
        "--noise", "0", "--width", "192", "--height", "144", "--id", "model",
      ])
    let results = folder.appending(path: "results")
    try run(["run", model.appending(path: "model").path, "--output", results.path])
    try? FileManager.default.removeItem(at: results.appending(path: "model/.scanmill/memo.json"))
    try? FileManager.default.removeItem(at: results.appending(path: "model/.scanmill/index"))
    try? FileManager.default.removeItem(at: results.appending(path: "model/.scanmill/digests.json"))
    try FileManager.default.createDirectory(at: input, withIntermediateDirectories: true)
    for capture in 0..<captures {
      let name = Self.name(capture)
      try FileManager.default.copyItem(
        at: model.appending(path: "model"), to: input.appending(path: name))
      try FileManager.default.copyItem(
        at: results.appending(path: "model"), to: output.appending(path: name))
      try rename("\(name)/.scanmill/owner.json", to: name, model)
      try rename("\(name)/capture.json", to: name, model)
    }
    // Files that have only just changed are not remembered.
    Thread.sleep(forTimeInterval: 3)
    try run(
      ["run", input.path, "--output", output.path, "--progress", "none"],
      printing: folder.appending(path: "printed"))
  }

  /// Makes a note about the model one about a capture.
  private func rename(_ note: String, to name: String, _ model: URL) throws {
    let file = output.appending(path: note)
    let text = try String(contentsOf: file, encoding: .utf8)
      .replacingOccurrences(
        of: model.appending(path: "model").path, with: input.appending(path: name).path
      )
      .replacingOccurrences(of: "\"id\" : \"model\"", with: "\"id\" : \"\(name)\"")
    try Data(text.utf8).write(to: file)
  }

  private static func name(_ capture: Int) -> String {
    "capture-" + String(repeating: "0", count: 6 - "\(capture)".count) + "\(capture)"
  }

  /// Runs the program; returns its peak memory in KiB.
  @discardableResult
  private func run(_ arguments: [String], printing: URL? = nil) throws -> Int {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, path) in [(STDOUT_FILENO, printing?.path), (STDERR_FILENO, nil)] {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, path ?? "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child = pid_t()
    guard posix_spawn(&child, program, &actions, nil, &words, environ) == 0 else {
      throw CocoaError(.fileReadNoSuchFile)
    }
    // Waited for with its own usage, which Foundation's `Process` does not tell.
    var status: Int32 = 0
    var usage = rusage()
    while wait4(child, &status, 0, &usage) < 0, errno == EINTR {}
    guard status == 0 else { throw CocoaError(.fileReadUnknown) }
    return Int(usage.ru_maxrss)
  }
}
