import CPlatform
import Glibc

/// The first steps of each program.
public enum ProgramStart {
  /// The words that this process was started with, the name of the program first, in the form of `PathText`, which
  /// preserves all bytes. Taken from what the system hands to the process: `CommandLine` looks for them in `/proc` and
  /// around the environment, and finds none where the one is not mounted or the other was moved.
  public static let arguments: [String] = {
    var words: UnsafePointer<UnsafePointer<CChar>?>?
    let count = Int(scanmill_arguments(&words))
    return (0..<max(0, count)).compactMap { index in
      words?[index].map { PathText.text(of: $0) }
    }
  }()

  /// Writing to a closed pipe, and beyond a limit of file sizes (`ulimit -f`), becomes an error of the call in place of
  /// a signal that ends the process without a word. As many files may be open as the system allows.
  public static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    ProcessLimits.raiseDescriptors()
  }
}
