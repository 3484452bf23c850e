/// A build of the program, and the libraries that it uses.
public struct ProgramIdentity: Hashable, Sendable, Codable {
  public var version: String
  /// The commit from which it was built, followed by `+changes` if files had been changed; `nil` if
  /// unknown to the build.
  public var commit: String?
  /// Versions of FFmpeg's libraries and of libpng at run time.
  public var libraries: [String: String]

  public init(version: String, commit: String?, libraries: [String: String]) {
    self.version = version
    self.commit = commit
    self.libraries = libraries
  }

  /// The output of `--version`: the version alone on the first line, then one line each for what it
  /// was built from and what it uses.
  ///
  /// - Parameters:
  ///   - compiler: the Swift release that built it.
  ///   - processor: the processor features that the program uses.
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
