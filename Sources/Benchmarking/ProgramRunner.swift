import Core
import Synchronization
import SystemPackage
import Glibc

/// A program that could not be measured.
public struct BenchmarkError: Error, CustomStringConvertible {
  public var description: String
  /// Whether a stage failed for this capture; others can be measured.
  var isOfStage = false
}

/// Runs programs one at a time and measures them.
public final class ProgramRunner: Sendable {
  /// A folder for the programs' output, which is empty again after every run.
  private let folder: FilePath
  /// The running program, which another thread can end.
  private let running = Mutex<ChildProcess?>(nil)

  public struct Outcome: Sendable {
    var wallSeconds: Double
    public var end: ProcessEnd
    public var output: [UInt8]
    public var error: [UInt8]

    /// The end of what it has told, without lines that lead to its logs: these go with its output.
    var lastWords: String {
      String(decoding: error.suffix(2000), as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("  log ") && !$0.hasPrefix("read more: ") }
        .joined(separator: "\n")
    }
  }

  public init(wordsIn folder: FilePath) {
    self.folder = folder
  }

  /// Runs a program to its end. `output` is everything it wrote to standard output.
  public func run(_ program: String, _ arguments: [String]) throws -> Outcome {
    let output = folder.appending("standard-output")
    let error = folder.appending("standard-error")
    var order = ProcessOrder(program, arguments)
    let outputFile = try create(output)
    defer { try? outputFile.close() }
    let errorFile = try create(error)
    defer { try? errorFile.close() }
    order.output = outputFile
    order.error = errorFile
    order.diesWithStarter = true

    let start = MonotonicClock.seconds()
    let child = try ChildProcess(order)
    running.withLock { $0 = child }
    // The process ID stays reserved until no thread can signal it any more.
    var status = siginfo_t()
    while waitid(P_PID, id_t(child.id), &status, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    running.withLock { $0 = nil }
    let end = child.wait()
    let seconds = MonotonicClock.seconds() - start
    return Outcome(
      wallSeconds: seconds, end: end, output: try Self.bytes(output), error: try Self.bytes(error))
  }

  /// Asks the running program, if any, to end (SIGTERM). May be called from any thread.
  public func stop() { running.withLock { $0?.terminate() } }

  private func create(_ path: FilePath) throws -> FileDescriptor {
    do {
      return try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate, .closeOnExec],
        permissions: [.ownerReadWrite])
    } catch {
      throw FileError(error, path: path, operation: "create")
    }
  }

  private static func bytes(_ path: FilePath) throws -> [UInt8] {
    try MappedFile(path).withBytes { $0.withUnsafeBytes { Array($0) } }
  }
}
