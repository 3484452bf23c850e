@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Cluster
import Glibc

/// Programs named like those of Slurm that do what a test says.
final class FakeCommands: Sendable {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Makes `name` a program that notes its words and then does `script`.
  func set(_ name: String, _ script: String) throws {
    let file = folder.path.appending(name)
    let text = """
      #!/bin/sh
      [ "$1" = --probe ] && exit 0
      here='\(folder.path)'
      echo "${0##*/} $*" >> "$here/calls"
      \(script)

      """
    try? FileSystem.remove(file)
    let descriptor = try FileDescriptor.open(
      file, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
      permissions: [.ownerReadWriteExecute])
    try descriptor.writeAll(Array(text.utf8))
    try descriptor.close()
    // A program that another thread starts meanwhile holds the file for a moment: it is busy then.
    Waiting.until("a program that can be started") {
      (try? ChildProcess(ProcessOrder(file.string, ["--probe"])).wait()) != nil
    }
  }

  /// Those that this process was started with, and these programs first.
  func environment(_ more: [String: String] = [:]) -> [String: String] {
    ["PATH": "\(folder.path):/usr/bin:/bin", "HOME": "/"].merging(more) { $1 }
  }

  /// Every call so far: name and words.
  var calls: [String] {
    get throws {
      try text("calls").split(separator: "\n").map(String.init)
    }
  }

  /// What a script has written to the file `name` in `$here`; empty when there is none.
  func text(_ name: String) throws -> String {
    let file = folder.path.appending(name)
    guard FileSystem.exists(file) else { return "" }
    return try MappedFile(file).withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }
}
