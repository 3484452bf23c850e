import ArgumentParser
import FoundationEssentials

/// The verbs and their arguments, from the argument parser (`--experimental-dump-help`).
struct ToolDescription: Decodable {
  var command: Verb

  /// The description of the program itself.
  static func ofThisProgram() throws -> ToolDescription {
    try JSONDecoder().decode(ToolDescription.self, from: Data(Scanmill._dumpHelp().utf8))
  }

  struct Verb: Decodable {
    var commandName: String
    var abstract: String?
    /// Paragraphs separated by empty lines.
    var discussion: String?
    var shouldDisplay: Bool?
    var subcommands: [Verb]?
    var arguments: [Argument]?

    /// Verbs that users call. `help` is excluded because it is an option as well.
    var shownVerbs: [Verb] {
      (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
    }

    func arguments(_ kinds: Argument.Kind...) -> [Argument] {
      (arguments ?? []).filter { $0.shouldDisplay && kinds.contains($0.kind) }
    }
  }

  struct Argument: Decodable {
    enum Kind: String, Decodable {
      case positional, option, flag
    }

    struct Name: Decodable, Hashable {
      enum Kind: String, Decodable {
        case long, short, longWithSingleDash
      }

      var kind: Kind
      var name: String
    }

    var kind: Kind
    var shouldDisplay: Bool
    var isOptional: Bool
    var isRepeating: Bool
    var names: [Name]?
    var preferredName: Name?
    var valueName: String?
    var defaultValue: String?
    var allValues: [String]?
    var abstract: String?
    var discussion: String?
  }
}
