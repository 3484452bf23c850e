import Codecs
import Pipeline

/// The version of this build, and what it is made of.
enum Version {
  static let text = "0.1.0"

  static let program = ProgramIdentity(
    version: text, commit: BuildStamp.commit, libraries: LibraryVersions.all)

  /// What `--version` prints.
  static let page = program.text(compiler: compiler)

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
