/// Which build of the program made something, and with which libraries.
public struct ProgramIdentity: Hashable, Sendable, Codable {
  public var version: String
  /// The commit that it was built from, `+changes` behind it where files had been changed since; `nil`
  /// where a build could not tell.
  public var commit: String?
  /// Versions of FFmpeg's libraries and of libpng, as they are at run time.
  public var libraries: [String: String]

  public init(version: String, commit: String?, libraries: [String: String]) {
    self.version = version
    self.commit = commit
    self.libraries = libraries
  }

  /// What `--version` prints: the version alone on the first line, then what it was built from and runs
  /// with, a line each.
  ///
  /// - Parameters:
  ///   - compiler: the Swift release that built it.
  ///   - processor: what it runs on, as far as the program makes use of it.
  public func text(compiler: String, processor: String) -> String {
    let names = ["libavcodec", "libavformat", "libavutil", "libswscale", "libpng"]
    let known = names.filter { libraries[$0] != nil }
    let rest = libraries.keys.filter { !names.contains($0) }.sorted()
    return
      ([version, "commit \(commit ?? "unknown")", "Swift \(compiler)"]
      + (known + rest).map { "\($0) \(libraries[$0] ?? "")" }
      + ["processor \(processor)"]).joined(separator: "\n")
  }
}
