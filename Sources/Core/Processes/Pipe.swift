import CPlatform
import SystemPackage

/// A pipe whose ends are inherited only by programs that they are passed to.
public struct Pipe: Sendable {
  public let reading: FileDescriptor
  public let writing: FileDescriptor

  public init() throws(FileError) {
    var ends: [Int32] = [-1, -1]
    let code = scanmill_pipe(&ends)
    guard code == 0 else {
      throw FileError(Errno(rawValue: code), path: "pipe", operation: "make")
    }
    reading = FileDescriptor(rawValue: ends[0])
    writing = FileDescriptor(rawValue: ends[1])
  }
}
