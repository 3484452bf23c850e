import Testing

@testable import Night
