#pragma once

#include <algorithm>
#include <cstddef>

namespace assay::kernels {

// The threads that run the tasks of a kernel. Results are the same for any number of threads, bit for bit.
struct Threads {
  std::size_t count = 1;  // the number of threads
  // Calls task(context, i) once for each i < tasks, in any order, and returns when all are done.
  void (*run)(void* pool, void (*task)(void* context, std::size_t i), void* context,
              std::size_t tasks) = [](void*, void (*task)(void*, std::size_t), void* context, std::size_t tasks) {
    for (std::size_t i = 0; i < tasks; ++i) task(context, i);
  };
  void* pool = nullptr;
  std::size_t least_share = 1 << 14;  // the least number of elements of a task

  // The number of tasks of a kernel. There are more tasks than threads, so that the other threads can take tasks from a
  // slow thread.
  constexpr std::size_t tasks() const { return count == 1 ? 1 : 4 * count; }
};

// Calls task(i) for each i < tasks.
template <class Task>
void for_each_task(const Threads& threads, std::size_t tasks, const Task& task) {
  if (tasks == 1) return task(0);
  const auto call = [](void* context, std::size_t i) { (*static_cast<const Task*>(context))(i); };
  threads.run(threads.pool, call, const_cast<Task*>(&task), tasks);
}

// A range of items, such as part i of n items. The sizes of parts differ by at most one.
struct Range {
  std::size_t begin, end;
  constexpr std::size_t size() const { return end - begin; }
};
constexpr Range part(std::size_t n, std::size_t i, std::size_t parts) { return {n * i / parts, n * (i + 1) / parts}; }

// The number of parts into which threads divide n items with `elements` elements each; at most `most`.
inline std::size_t parts_of(const Threads& threads, std::size_t most, std::size_t n, std::size_t elements) {
  const std::size_t worth = n * elements / std::max<std::size_t>(threads.least_share, 1);
  return std::max<std::size_t>(std::min({n, most, worth}), 1);
}

// Calls body(range) for the parts of n items with `elements` elements each.
template <class Body>
void share(const Threads& threads, std::size_t n, std::size_t elements, const Body& body) {
  const std::size_t parts = parts_of(threads, threads.tasks(), n, elements);
  for_each_task(threads, parts, [&](std::size_t i) { body(part(n, i, parts)); });
}

}  // namespace assay::kernels
