import Core
import SystemPackage

/// The script of a job, which `sbatch` reads from its standard input.
enum BatchScript {
  /// The script stops at the first `setup` line that fails. Then `exec` replaces the shell by the
  /// program, because Slurm signals only the shell.
  static func text(_ submission: Submission, setup: [String]) -> String {
    // Until the program handles it, the time limit warning must not end anything.
    let trap = submission.count > 0 ? ["trap '' USR2"] : []
    let lines = ["#!/bin/sh", "set -e"] + trap + setup + ["exec " + command(submission)]
    return lines.joined(separator: "\n") + "\n"
  }

  /// The arguments name the task with array index 0; others add their index.
  private static func command(_ submission: Submission) -> String {
    var words = [submission.program.text] + submission.arguments
    if submission.count > 0 {
      words += ["element", submission.runFolder.text, "\(submission.firstElement)"]
    }
    return words.map(quoted).joined(separator: " ")
  }

  /// The word quoted for `sh`; any content is safe.
  static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
    // Iterates over scalars, because a quote and a combining accent after it are one character.
    var quoted = String.UnicodeScalarView("'".unicodeScalars)
    for scalar in word.unicodeScalars {
      if scalar == "'" { quoted += "'\\''".unicodeScalars } else { quoted.append(scalar) }
    }
    quoted.append("'")
    return String(quoted)
  }

  /// The word for display: quotes only if necessary.
  static func shown(_ word: String) -> String {
    let isSafe = word.utf8.allSatisfy { isPlain($0) || "=:,./%@+".utf8.contains($0) }
    return isSafe && !word.isEmpty ? word : quoted(word)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
