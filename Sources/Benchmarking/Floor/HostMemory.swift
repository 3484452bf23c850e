import Glibc

/// Memory that a host gives a virtual machine at its first use, which takes ten times the system
/// time of later use.
public enum HostMemory {
  /// Touches `bytes` of memory once and releases them; the host has then provided the pages.
  static func touch(bytes: Int) {
    let page = 4096
    guard bytes >= page,
      let memory = mmap(
        nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
      memory != MAP_FAILED
    else { return }
    var place = 0
    while place < bytes {
      memory.storeBytes(of: 1, toByteOffset: place, as: UInt8.self)
      place += page
    }
    munmap(memory, bytes)
  }

  /// Touches `bytes`, but at most half of the available memory.
  public static func touch(upTo bytes: Int64) -> Int64 {
    let touched = touchable(
      wanted: bytes, memoryInfo: MachineDescription.text("/proc/meminfo"))
    touch(bytes: Int(touched))
    return touched
  }

  /// How much may be touched without displacing other data: half of what the kernel calls
  /// available, at most `wanted`.
  static func touchable(wanted: Int64, memoryInfo text: String) -> Int64 {
    for line in text.split(separator: "\n") where line.hasPrefix("MemAvailable:") {
      let words = line.split(separator: " ")
      guard words.count >= 2, let kilobytes = Int64(words[1]), kilobytes < 1 << 50 else { break }
      return max(0, min(wanted, kilobytes * 1024 / 2))
    }
    return 0
  }
}
