//! The memory engine passes every test that an engine must pass.

use selkie_engine::Engine;
use selkie_engine::conformance::Subject;
use selkie_engine_memory::MemoryEngine;

struct Memory(MemoryEngine);

impl Subject for Memory {
    fn engine(&self) -> &dyn Engine {
        &self.0
    }

    fn crash(self: Box<Self>) -> Box<dyn Subject> {
        Box::new(Memory(self.0.crash()))
    }
}

selkie_engine::conformance_tests!(|| Box::new(Memory(MemoryEngine::with_checkpoints())) as Box<dyn Subject>);
