/// How the measured program was built.
public struct BuildDescription: Hashable, Sendable, Codable {
  /// The commit, followed by `+changes` if files had been changed; `nil` if unknown to the build.
  var commit: String?
  /// The Swift release that built it.
  public var swift: String
  /// `debug` or `release`. Figures of a debug build are meaningless.
  var configuration: String
  /// Versions at run time: FFmpeg's libraries and libpng.
  var libraries: [String: String]

  public init(
    commit: String?, swift: String, configuration: String, libraries: [String: String]
  ) {
    self.commit = commit
    self.swift = swift
    self.configuration = configuration
    self.libraries = libraries
  }

  var words: String {
    let versions = libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return
      (["commit \(commit ?? "unknown")", "Swift \(swift)", "\(configuration) build"]
      + [versions.joined(separator: ", ")].filter { !$0.isEmpty }).joined(separator: " · ")
  }
}
