import CPlatform
import Processes
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Has pages and JSON made by a process of this very program: what that needs of memory and time, and how
/// it fails, is no matter of the watcher.
struct ReportPrinter: Sendable {
  let program: FilePath
  let output: FilePath

  /// Writes the pages. What went wrong, for people; `nil`: nothing.
  func pages(sinceSeconds: Int?) -> String? {
    run(["--format", "html"], sinceSeconds, limitSeconds: 3600).problem
  }

  /// The report as JSON.
  func json(sinceSeconds: Int?) -> (bytes: [UInt8], problem: String?) {
    run(["--format", "json"], sinceSeconds, limitSeconds: 600)
  }

  private func run(
    _ words: [String], _ sinceSeconds: Int?, limitSeconds: Double
  ) -> (bytes: [UInt8], problem: String?) {
    let result = FileDescriptor(rawValue: scanmill_memory_file())
    let errors = FileDescriptor(rawValue: scanmill_memory_file())
    defer {
      for file in [result, errors] where file.rawValue >= 0 { try? file.close() }
    }
    guard result.rawValue >= 0, errors.rawValue >= 0 else { return ([], "no memory for a report") }
    var order = ProcessOrder(
      program.text,
      ["report", output.text] + words + (sinceSeconds.map { ["--since", "\($0)s"] } ?? []))
    order.environment = ServiceManager.withoutVariables(ProcessOrder.currentEnvironment)
    order.output = .descriptor(result)
    order.error = .descriptor(errors)
    order.hasOwnGroup = true
    order.diesWithStarter = true
    do {
      let child = try ChildProcess(order)
      var waited = 0.0
      while true {
        if let end = child.look() {
          let said = String(decoding: Self.contents(errors), as: UTF8.self)
          let problem = end.isSuccess ? nil : "the report \(end.phrase): \(said.suffix(2000))"
          return (Self.contents(result), problem)
        }
        if waited > limitSeconds {
          child.kill()
          _ = child.wait()
          return ([], "the report took longer than \(Int(limitSeconds)) s")
        }
        usleep(50_000)
        waited += 0.05
      }
    } catch {
      return ([], "\(error)")
    }
  }

  private static func contents(_ file: FileDescriptor) -> [UInt8] {
    var status = stat()
    guard fstat(file.rawValue, &status) == 0 else { return [] }
    let size = Int(clamping: status.st_size)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      while count < size {
        let got = pread(
          file.rawValue, bytes.baseAddress.map { $0 + count }, size - count, off_t(count))
        guard got > 0 else { return }
        count += got
      }
    }
  }
}
