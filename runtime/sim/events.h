// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "lang/base/result.h"

namespace gexp::sim {

/// "Not yet known": later than every cycle.
inline constexpr std::uint64_t kNever = ~0ull;

/// Of two events of a cycle, the one that was added first comes first. Warps that are alone on their SMs add their events ahead of time, so
/// what counts is when that would have been: how many cycles before the event what added it was issued, then what came before that.
using Origin = std::array<std::uint32_t, 8>;

/// What is due at a cycle; the meaning of `who` is the kind's.
struct Event {
  enum class Kind : std::uint32_t {
    Run,     ///< a warp goes on
    Arrive,  ///< a request reaches what all SMs share
    Return,  ///< its data are back in the SM
    Finish,  ///< a load that needed nothing from outside its SM is done
  };
  std::uint64_t time = 0;
  std::uint64_t turn = 0;  ///< of events of one cycle and one origin
  Origin origin{};
  Kind kind = Kind::Run;
  std::uint32_t who = 0;
};

/// Events in order of time. Each of the next kSpan cycles has a list of its events, in the order of their origins; later ones wait in a
/// heap. So adding and taking cost the same however many there are.
class Events {
 public:
  [[nodiscard]] bool empty() const { return first_ == kNever; }
  /// Time of the first one; kNever when there is none.
  [[nodiscard]] std::uint64_t first() const { return first_; }

  /// `time` is not before that of the event that was taken last.
  void add(std::uint64_t time, Event::Kind kind, std::uint32_t who) {
    GEXP_CHECK(time >= now_);
    if (time < first_) first_ = time;
    if (time - now_ < kSpan) return insert(time, origin(time), kind, who);
    later_.push_back({time, turn_++, origin(time), kind, who});
    std::push_heap(later_.begin(), later_.end(), after);
  }

  /// Warps add their events ahead of time from now on.
  void expect_ahead() { is_ahead_ = true; }
  /// What is being done goes on to an instruction that issues then.
  void go_on(std::uint64_t issued) {
    if (issued > course_[at_]) course_[at_ = (at_ + 1) % course_.size()] = issued;
  }

  Event take() {
    if (!later_.empty()) move_on(first_);
    now_ = first_;
    List& list = lists_[now_ % kSpan];
    const std::uint32_t at = list.first;
    const Node taken = nodes_[at];
    list.first = taken.next;
    nodes_[at].next = free_;
    free_ = at;
    if (is_ahead_) begin_course(taken.origin);
    if (list.first == kNone) {
      occupied_[now_ % kSpan / 64] &= ~(1ull << now_ % 64);
      first_ = next();
    }
    return {now_, 0, {}, taken.kind, taken.who};
  }

 private:
  static constexpr std::uint32_t kSpan = 1024, kNone = ~0u;  // cycles: more than most latencies
  struct Node {
    std::uint32_t next = kNone, who = 0;
    Event::Kind kind = Event::Kind::Run;
    Origin origin{};
  };
  struct List {
    std::uint32_t first = kNone, last = kNone;
  };
  [[nodiscard]] Origin origin(std::uint64_t time) const {
    Origin origin{};
    if (!is_ahead_) return origin;
    for (std::size_t k = 0; k < origin.size(); ++k) {
      origin[k] = static_cast<std::uint32_t>(std::min<std::uint64_t>(time - course_[(at_ - k) % course_.size()], ~0u));
    }
    return origin;
  }
  void begin_course(const Origin& origin) {
    for (std::size_t k = 0; k + 1 < course_.size(); ++k) course_[course_.size() - 2 - k] = now_ - origin[k];
    course_[at_ = course_.size() - 1] = now_;
  }
  static bool after(const Event& a, const Event& b) { return a.time != b.time ? a.time > b.time : a.turn > b.turn; }

  void insert(std::uint64_t time, const Origin& origin, Event::Kind kind, std::uint32_t who) {
    std::uint32_t at = free_;
    if (at == kNone) nodes_.emplace_back(), at = static_cast<std::uint32_t>(nodes_.size() - 1);
    else free_ = nodes_[at].next;
    nodes_[at] = {kNone, who, kind, origin};
    List& list = lists_[time % kSpan];
    std::uint64_t& word = occupied_[time % kSpan / 64];
    const std::uint64_t bit = 1ull << time % 64;
    if ((word & bit) == 0) {
      word |= bit;
      list.first = list.last = at;
    } else if (!is_ahead_ || nodes_[list.last].origin >= origin) {  // from longer ago on
      nodes_[list.last].next = at;
      list.last = at;
    } else {
      std::uint32_t* before = &list.first;
      while (nodes_[*before].origin >= origin) before = &nodes_[*before].next;
      nodes_[at].next = *before;
      *before = at;
    }
  }

  /// The time is `now`: what has come within the span gets its place, before anything of the same cycle is added.
  void move_on(std::uint64_t now) {
    now_ = now;
    while (!later_.empty() && later_.front().time - now_ < kSpan) {
      insert(later_.front().time, later_.front().origin, later_.front().kind, later_.front().who);
      std::pop_heap(later_.begin(), later_.end(), after);
      later_.pop_back();
    }
  }

  /// Time of the first one after now_.
  [[nodiscard]] std::uint64_t next() const {
    const std::uint64_t start = now_ % kSpan / 64;
    std::uint64_t word = occupied_[start] & (~0ull << now_ % 64);
    for (std::uint64_t k = 0; k <= kSpan / 64; ++k) {
      if (word != 0) {
        const std::uint64_t place = (start + k) % (kSpan / 64) * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
        return now_ + (place - now_) % kSpan;
      }
      word = occupied_[(start + k + 1) % (kSpan / 64)];
    }
    return later_.empty() ? kNever : later_.front().time;
  }

  std::array<List, kSpan> lists_;
  std::array<std::uint64_t, kSpan / 64> occupied_{};  ///< a bit a list
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::vector<Event> later_;  ///< heap
  std::uint64_t now_ = 0, first_ = kNever, turn_ = 0;
  std::array<std::uint64_t, std::tuple_size_v<Origin>> course_{};  ///< a ring of when what is being done issued, the last one at `at_`
  std::size_t at_ = 0;
  bool is_ahead_ = false;
};

}  // namespace gexp::sim
