import Core
import SystemPackage

/// `run.json` as it is read: the one reader of it. `RunRecord` is how it is written.
///
/// Journals of runs that go on have less.
package struct RunFile: Sendable, Decodable {
  package struct Named: Sendable, Decodable {
    package var name: String?
    package var path: String?
  }

  /// The start in UTC (ISO 8601).
  package var started: String?
  /// `nil` while the run goes on, and where it was killed.
  package var finished: String?
  package var pipeline: Named?
  package var program: ProgramIdentity?
  var host: Named?
  var user: String?
  package var captures: [CaptureReport]?
  var unrecognized: [RunReport.Unrecognized]?

  /// Who ran it, whole; `nil` where a part of it is absent.
  package var context: RunContext?

  private enum Key: CodingKey {
    case started, finished, pipeline, program, host, user, captures, unrecognized
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    started = try values.decodeIfPresent(String.self, forKey: .started)
    finished = try values.decodeIfPresent(String.self, forKey: .finished)
    pipeline = try values.decodeIfPresent(Named.self, forKey: .pipeline)
    program = try values.decodeIfPresent(ProgramIdentity.self, forKey: .program)
    host = try values.decodeIfPresent(Named.self, forKey: .host)
    user = try values.decodeIfPresent(String.self, forKey: .user)
    captures = try values.decodeIfPresent([CaptureReport].self, forKey: .captures)
    unrecognized = try values.decodeIfPresent(
      [RunReport.Unrecognized].self, forKey: .unrecognized)
    context = try? RunContext(from: decoder)
  }

  /// Throws for what is no JSON, and where a value has another type.
  package init(_ bytes: [UInt8]) throws {
    self = try Self(json: bytes)
  }

  /// The file of a run of an output; `nil` where there is none that can be understood. No link is followed
  /// below `root`. Cost: proportional to the file, which grows with the captures of the run.
  package init?(_ run: String, in root: FilePath) {
    let path = OutputLayout.run(run, in: root).appending(OutputNames.run)
    guard let bytes = HeldFolder.contents(of: path, below: root), let file = try? RunFile(bytes)
    else { return nil }
    self = file
  }
}
