import Foundation
import PackagePlugin

/// Writes the commit that is built into a source file of the target: looked up at every build, and the
/// file touched only when it changes. A build without git and without a commit to be found says `nil`.
@main
struct CommitStamp: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folder = context.pluginWorkDirectoryURL.appending(path: "stamp")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let place = context.package.directoryURL
    let commit = Self.commit(of: place) ?? Self.archivedCommit(in: place)
    let literal = commit.map { "\"\($0)\"" } ?? "nil"
    let text = """
      /// The commit that this program was built from; `+changes` behind it: files had been changed since.
      enum BuildStamp {
        static let commit: String? = \(literal)
      }

      """
    let file = folder.appending(path: "BuildStamp.swift")
    if (try? String(contentsOf: file, encoding: .utf8)) != text {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    // A prebuild command is what makes the build system look at the folder each time; there is nothing
    // left for it to do.
    return [
      .prebuildCommand(
        displayName: "Stamp the commit", executable: URL(filePath: "/bin/sh"),
        arguments: ["-c", ":"], outputFilesDirectory: folder)
    ]
  }

  /// From the files of the repository itself: no git is needed.
  private static func commit(of package: URL) -> String? {
    guard let repository = repository(of: package), let head = line(repository, "HEAD") else {
      return nil
    }
    // A linked work tree keeps its references in the main repository.
    let common = line(repository, "commondir").map { URL(filePath: $0, relativeTo: repository) }
    guard head.hasPrefix("ref: ") else { return checked(head).map { $0 + changes(in: package) } }
    let name = String(head.dropFirst(5)).trimmingCharacters(in: .whitespaces)
    for folder in [repository, common].compactMap(\.self) {
      let found = line(folder, name) ?? packed(name, in: folder)
      if let commit = found.flatMap(checked) { return commit + changes(in: package) }
    }
    return nil
  }

  /// `.git`, or what a file of that name leads to.
  private static func repository(of package: URL) -> URL? {
    let place = package.appending(path: ".git")
    guard let link = line(package, ".git") else { return place }
    guard link.hasPrefix("gitdir: ") else { return nil }
    return URL(filePath: String(link.dropFirst(8)), relativeTo: package)
  }

  private static func packed(_ name: String, in repository: URL) -> String? {
    guard let text = line(repository, "packed-refs") else { return nil }
    for entry in text.split(separator: "\n") {
      let words = entry.split(separator: " ")
      if words.count == 2, words[1] == name { return String(words[0]) }
    }
    return nil
  }

  private static func line(_ folder: URL, _ name: String) -> String? {
    (try? String(contentsOf: folder.appending(path: name), encoding: .utf8))
      .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
  }

  private static func checked(_ text: String) -> String? {
    [40, 64].contains(text.count) && text.allSatisfy(\.isHexDigit) ? text : nil
  }

  /// Whether files had been changed since the commit; where git cannot be asked, nothing is said.
  private static func changes(in package: URL) -> String {
    let git = Process()
    git.executableURL = URL(filePath: "/usr/bin/env")
    git.arguments = ["git", "-C", package.path, "status", "--porcelain", "--untracked-files=no"]
    let output = Pipe()
    git.standardOutput = output
    git.standardError = FileHandle.nullDevice
    guard (try? git.run()) != nil else { return "" }
    let bytes = try? output.fileHandleForReading.readToEnd()
    git.waitUntilExit()
    let hasChanges = git.terminationStatus == 0 && bytes?.isEmpty == false
    return hasChanges ? "+changes" : ""
  }

  /// What `git archive` wrote into a file of ours.
  private static func archivedCommit(in package: URL) -> String? {
    line(package, "Sources/scanmill/CommitStamp/archived-commit.txt").flatMap(checked)
  }
}
