import Benchmarking
import FoundationEssentials
import Engine
import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The context in `run.json`: program, machine, user and command line.
enum RunRecording {
  /// - Parameters:
  ///   - given: the pipeline as the user named it.
  ///   - source: the pipeline that this name refers to.
  static func context(_ given: String, _ source: PipelineSource) -> RunContext {
    let machine = MachineDescription.current()
    let isBuiltIn = PipelineFinder.builtIn.contains(given)
    return RunContext(
      program: Version.program,
      host: RunContext.Host(
        name: hostName, os: machine.system, cpu: machine.processor, cores: machine.cores,
        memoryBytes: machine.memoryBytes),
      user: userName, commandLine: commandLine(ProgramStart.arguments, source),
      workingDirectory: FileManager.default.currentDirectoryPath,
      pipeline: RunContext.Pipeline(
        name: given,
        path: isBuiltIn ? nil : (try? FileSystem.absolute(FilePath(given)))?.string,
        sha256: Digest(of: source.text)))
  }

  /// The given words, without values of secrets after `--set`.
  static func commandLine(_ words: [String], _ source: PipelineSource) -> [String] {
    var result: [String] = []
    for word in words {
      let isValue = result.last == "--set"
      let text = isValue ? word : word.hasPrefix("--set=") ? String(word.dropFirst(6)) : nil
      guard let text, let setting = ParameterSetting(text),
        source.isSecret(setting, Toolbox.stages)
      else {
        result.append(word)
        continue
      }
      let hidden =
        "\(setting.stage).\(setting.parameter)=\(SecretText.omitted(setting.value))"
      result.append((isValue ? "" : "--set=") + hidden)
    }
    return result
  }

  private static var hostName: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown" }
    return withUnsafeBytes(of: name.nodename) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// The user number if the system has no name for it.
  static var userName: String {
    let number = geteuid()
    guard let entry = getpwuid(number) else { return "\(number)" }
    return String(cString: entry.pointee.pw_name)
  }
}
