import ArgumentParser
import Benchmarking
import Output
import Pipeline
import Runner

extension BenchCommand {
  /// Those that `--compare` names, each once.
  var peers: [Peer] {
    get throws {
      let names = Peer.allCases.map(\.rawValue)
      var peers: [Peer] = []
      for name in SelectionArguments.split(compare) {
        let peer = try SelectionArguments.known(name, Peer(rawValue: name), "peer", names)
        if !peers.contains(peer) { peers.append(peer) }
      }
      return peers
    }
  }

  /// The peers of this machine, and what to say of the others.
  struct FoundPeers {
    var found: [PeerFinder.Found] = []
    var missing: [PeerFinder.Missing] = []

    var versions: [String: String] {
      Dictionary(found.map { ($0.peer.rawValue, $0.version) }) { first, _ in first }
    }

    /// Each command line once: `ffmpeg` stands for both of its.
    var commands: [PeerCommand] {
      found.flatMap(\.commands).reduce(into: []) { all, command in
        if !all.contains(command) { all.append(command) }
      }
    }

    var sentences: [String] {
      missing.map { "\($0.peer.rawValue) is not compared: \($0.description)" }
    }
  }

  func findPeers(_ runner: ProgramRunner) throws -> FoundPeers {
    let finder = PeerFinder(runner)
    var peers = FoundPeers()
    for peer in try self.peers {
      do throws(PeerFinder.Missing) {
        peers.found.append(try finder.find(peer))
      } catch {
        peers.missing.append(error)
      }
    }
    if !quiet { for sentence in peers.sentences { Console.error("warning: \(sentence)") } }
    return peers
  }

  func comparison(
    _ subject: BenchSubject, _ session: BenchmarkSession, _ peers: FoundPeers
  ) throws -> PeerComparison {
    var comparison: PeerComparison
    if peers.found.isEmpty {
      comparison = PeerComparison(note: "nothing is compared: no peer that was named is here")
    } else if let video = subject.video {
      comparison = try session.compare(
        subject.measured, video: video, compressions: ["fast", "compact"], peers: peers.commands)
    } else {
      comparison = PeerComparison(
        note: "not compared: the capture's color is not a readable video")
    }
    if !peers.missing.isEmpty { comparison.missing = peers.sentences }
    return comparison
  }

  /// A peer that was named and is compared with on no capture is a failure; what was measured is printed before.
  func checkPeers(_ report: BenchmarkReport) throws {
    guard !compare.isEmpty else { return }
    let comparisons = report.captures.compactMap(\.comparison)
    let missing = Set(comparisons.flatMap { $0.missing ?? [] }).sorted()
    guard missing.isEmpty, comparisons.contains(where: { !$0.ratios.isEmpty }) else {
      let why = missing.isEmpty ? [comparisons.first?.note ?? "no capture was measured"] : missing
      throw Failure(code: ExitStatus.jobFailed, text: why.joined(separator: "; "))
    }
  }
}
