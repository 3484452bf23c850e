import Benchmarking
import Media
import Engine

/// The version of this build and of its components.
enum Version {
  static let text = "0.1.0"
  /// The option that prints `page`.
  static let flag = "--version"

  static let program = ProgramIdentity(
    version: text, commit: BuildStamp.commit, libraries: LibraryVersions.all)

  /// The output of `--version`. Missing FFmpeg libraries are shown as "not installed".
  static let page = ProgramIdentity(
    version: text, commit: BuildStamp.commit, libraries: LibraryVersions.shown
  ).text(compiler: compiler, processor: ProcessorFeatures.text)

  /// The build description in reports of `bench`.
  static let build = BuildDescription(
    commit: BuildStamp.commit, swift: compiler, configuration: configuration,
    libraries: LibraryVersions.all)

  #if DEBUG
    private static let configuration = "debug"
  #else
    private static let configuration = "release"
  #endif

  #if compiler(>=6.5)
    private static let compiler = "6.5 or later"
  #elseif compiler(>=6.4)
    private static let compiler = "6.4"
  #elseif compiler(>=6.3)
    private static let compiler = "6.3"
  #else
    private static let compiler = "6.2"
  #endif
}
