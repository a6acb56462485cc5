// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace gexp::sim {

/// "Not yet known": later than every cycle.
inline constexpr std::uint64_t kNever = ~0ull;

/// What is due at a cycle; the meaning of `who` is the kind's.
struct Event {
  enum class Kind : std::uint32_t {
    Run,     ///< a warp goes on
    Arrive,  ///< a request reaches what all SMs share
    Return,  ///< its data are back in the SM
    Finish,  ///< a load that needed nothing from outside its SM is done
  };
  std::uint64_t time = 0;
  std::uint64_t turn = 0;  ///< of two events of a cycle, the one that was added first comes first
  Kind kind = Kind::Run;
  std::uint32_t who = 0;
};

/// Events in order of time: a binary heap.
class Events {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  /// Time of the first one; kNever when there is none.
  [[nodiscard]] std::uint64_t first() const { return heap_.empty() ? kNever : heap_.front().time; }

  void add(std::uint64_t time, Event::Kind kind, std::uint32_t who) {
    const Event event{time, turn_++, kind, who};
    heap_.push_back(event);
    std::size_t at = heap_.size() - 1;
    while (at > 0 && before(event, heap_[(at - 1) / 2])) {
      heap_[at] = heap_[(at - 1) / 2];
      at = (at - 1) / 2;
    }
    heap_[at] = event;
  }

  Event take() {
    const Event result = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return result;
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], last)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = last;
    return result;
  }

 private:
  static bool before(const Event& a, const Event& b) { return a.time != b.time ? a.time < b.time : a.turn < b.turn; }

  std::vector<Event> heap_;
  std::uint64_t turn_ = 0;
};

}  // namespace gexp::sim
