#include "conformance/corrupt/cases.h"

#include "reference/program/decoded.h"

// Programs of a few instructions: the rules of data flow.
namespace assay::corrupt {
namespace {

using Index = PlanBuilder::Index;
constexpr auto f32 = DType::float32;
constexpr auto bounded = pte::TensorShapeDynamism::DYNAMIC_BOUND, unbounded = pte::TensorShapeDynamism::DYNAMIC_UNBOUND;

// The result of a branch is used after another tensor was written at this place.
void use_result_of_branches(Planned& p, std::uint32_t other_offset) {
  const Index a = p.at(32), b = p.at(32), result = p.at(64), c = p.condition(), other = p.at(other_offset);
  p.input(c);
  p.unless(c, [&] {
    p.relu(p.x, a), p.plan.move(a, result);
    p.always(p.next() + 3);
  });
  p.relu(p.x, b), p.plan.move(b, result);
  p.relu(p.x, other), p.relu(result, p.out);
}

const FlowCase every_flow_case[] = {
    {"T13", "a tensor over another that is still read",
     [](Planned& p) {
       const Index a = p.at(32), b = p.at(48);
       p.relu(p.x, a), p.relu(p.x, b), p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.at(32), b = p.at(44);
       p.relu(p.x, a), p.relu(p.x, b), p.relu(a, p.out);
     }},
    {"T13", "the input itself",
     [](Planned& p) {
       const Index a = p.at(0);
       p.relu(p.x, p.out), p.relu(p.out, a), p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.at(0);
       p.relu(p.x, p.out), p.relu(p.out, a), p.relu(p.x, p.out);
     }},
    {"T13", "the input in part",
     [](Planned& p) {
       const Index a = p.at(32);
       p.relu(p.x, p.out), p.relu(p.out, a), p.relu(p.x, p.out);
     },
     [](Planned& p) {
       const Index a = p.at(4, {3});
       p.relu(p.x, p.out), p.relu(p.out, a), p.relu(p.x, p.out);
     }},
    {"T13", "on one path only",
     [](Planned& p) {
       const Index a = p.at(32), b = p.at(36), c = p.condition();
       p.input(c), p.relu(p.x, a);
       p.unless(c, [&] { p.relu(p.x, b), p.relu(p.x, a); });
       p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.at(32), b = p.at(36), c = p.condition();
       p.input(c), p.relu(p.x, a);
       p.unless(c, [&] { p.relu(p.x, b); });
       p.relu(a, p.out);
     }},
    {"T16", "a view of bytes of another number",
     [](Planned& p) {
       const Index a = p.at(32), b = p.at(32, {2, 2});
       p.relu(p.x, a), p.plan.call("aten::view_copy.out", {b, p.plan.integers({4}), p.out, p.out});
     },
     [](Planned& p) {
       const Index a = p.at(32), b = p.at(32, {2});
       p.relu(p.x, a),
           p.plan.call("aten::expand_copy.out", {b, p.plan.integers({2, 2}), p.plan.boolean(false), p.out, p.out});
     }},
    {"T13", "an input over an earlier one", [](Planned& p) { p.input(p.at(32)), p.relu(p.x, p.out); },
     [](Planned& p) { p.input(p.at(8)), p.relu(p.x, p.out); }},
    {"T13", "what a branch gave, after its memory has other tenants", [](Planned& p) { use_result_of_branches(p, 80); },
     [](Planned& p) { use_result_of_branches(p, 40); }},
    {"T15", "a constant", [](Planned& p) { p.relu(p.weight(), p.out); },
     [](Planned& p) { p.relu(p.x, p.out), p.relu(p.x, p.weight()); }},
    {"T15", "through a handle",
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4});
       p.plan.move(p.weight(), a), p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4});
       p.plan.move(p.weight(), a), p.relu(p.x, a), p.relu(a, p.out);
     }},
    {"T15", "what becomes another tensor",
     [](Planned& p) { p.plan.move(p.x, p.plan.tensor(f32, {4})), p.relu(p.x, p.out); },
     [](Planned& p) { p.plan.move(p.x, p.weight()), p.relu(p.x, p.out); }},
    {"T15", "an input", [](Planned& p) { p.relu(p.weight(), p.out); },
     [](Planned& p) { p.input(p.weight()), p.relu(p.x, p.out); }},
    {"T16", "what nothing writes", [](Planned& p) { p.relu(p.x, p.at(32)), p.relu(p.at(32), p.out); },
     [](Planned& p) { p.relu(p.at(32), p.out); }},
    {"T16", "a part of what is written, beside a number that is",
     [](Planned& p) {
       p.weight(), p.number("add", p.plan.integer(1), p.plan.integer(2));
       p.output(p.at(0, {2, 2})), p.relu(p.x, p.out);
     },
     [](Planned& p) {
       p.weight(), p.number("add", p.plan.integer(1), p.plan.integer(2));
       p.output(p.at(0, {2})), p.relu(p.x, p.out);
     }},
    {"T16", "an output", [](Planned& p) { p.relu(p.x, p.out); }, [](Planned& p) { p.relu(p.x, p.at(32)); }},
    {"T16", "on one path only",
     [](Planned& p) {
       p.relu(p.x, p.out);
       p.input(p.condition());
       p.unless(p.plan.plan().inputs[1], [&] { p.relu(p.x, p.out); });
     },
     [](Planned& p) {
       p.input(p.condition());
       p.unless(p.plan.plan().inputs[1], [&] { p.relu(p.x, p.out); });
     }},
    {"T16", "behind a loop's beginning",
     [](Planned& p) {
       const Index a = p.at(32);
       p.relu(p.x, a);
       p.loop(p.plan.integer(3), [&](Index) { p.relu(a, p.out), p.relu(p.out, a); });
     },
     [](Planned& p) {
       const Index a = p.at(32);
       p.loop(p.plan.integer(3), [&](Index) { p.relu(a, p.out), p.relu(p.x, a); });
     }},
    {"T16", "state that is written back",
     [](Planned& p) {
       const Index state = p.at(32);
       p.plan.add_tensors(state, p.x, p.out), p.copy(state, p.out);
     },
     [](Planned& p) { p.plan.add_tensors(p.at(32), p.x, p.out); }},
    {"T16", "state by its name",
     [](Planned& p) {
       const Index state = p.at(32);
       p.name(state, "total"), p.relu(state, p.out);
     },
     [](Planned& p) {
       const Index state = p.at(32);
       p.name(p.out, "total"), p.relu(state, p.out);
     }},
    {"T16", "state that is not there at the end",
     [](Planned& p) {
       const Index state = p.at(32), other = p.at(36);
       p.relu(state, p.out), p.relu(p.x, other), p.copy(state, p.out);
     },
     [](Planned& p) {
       const Index state = p.at(32), other = p.at(36);
       p.relu(state, p.out), p.copy(state, p.out), p.relu(p.x, other);
     }},
    {"T16", "a tensor of changing sizes, by another that lies there",
     [](Planned& p) {
       const Index a = p.dynamic_at(32), b = p.dynamic_at(32);
       p.relu(p.x, a), p.view(a, b), p.relu(b, p.out);
     },
     [](Planned& p) {
       const Index a = p.dynamic_at(32), b = p.dynamic_at(32);
       p.relu(p.x, a), p.relu(b, p.out);
     }},
    {"T16", "rows one behind the other",
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4});
       p.output(rows), p.relu(p.x, p.out);
       p.loop(p.plan.integer(3), [&](Index row) { p.add_row(rows, p.out, row); });
     },
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4});
       p.output(rows), p.relu(p.x, p.out), p.add_row(rows, p.out, p.plan.integer(2));
     }},
    {"T16", "rows that a jump leaves out",
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4}), c = p.condition();
       p.output(rows), p.input(c), p.relu(p.x, p.out);
       p.loop(p.plan.integer(3), [&](Index row) {
         p.unless(c, [&] { p.relu(p.x, p.out); });
         p.add_row(rows, p.out, row);
       });
     },
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4}), c = p.condition();
       p.output(rows), p.input(c), p.relu(p.x, p.out);
       p.loop(p.plan.integer(3), [&](Index row) { p.unless(c, [&] { p.add_row(rows, p.out, row); }); });
     }},
    {"T16", "rows that something writes over",
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4}), other = p.at(80);
       p.output(rows);
       p.loop(p.plan.integer(3),
              [&](Index row) { p.relu(p.x, other), p.relu(other, p.out), p.add_row(rows, p.out, row); });
     },
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4}), other = p.at(76);
       p.output(rows);
       p.loop(p.plan.integer(3),
              [&](Index row) { p.relu(p.x, other), p.relu(other, p.out), p.add_row(rows, p.out, row); });
     }},
    {"T16", "what a delegate takes before what it gives",
     [](Planned& p) {
       p.plan.delegate("SomeBackend", pte::DataLocation::SEGMENT, p.program.segment({}));
       p.plan.delegate_call(0, {p.weight(), p.x, p.out});
     },
     [](Planned& p) {
       p.plan.delegate("SomeBackend", pte::DataLocation::SEGMENT, p.program.segment({}));
       p.plan.delegate_call(0, {p.at(32), p.weight(), p.out});
     }},
    {"T25", "an intermediate",
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, unbounded);
       p.relu(p.x, a), p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, bounded);
       p.relu(p.x, a), p.relu(a, p.out);
     }},
    {"T26", "one name",
     [](Planned& p) {
       const Index a = p.at(32), b = p.at(32, {2, 2});
       p.name(a, "state"), p.name(b, "state"), p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.at(32), b = p.at(32, {4}, 2);
       p.name(a, "state"), p.name(b, "state"), p.relu(a, p.out);
     }},
    {"T27", "a view planned elsewhere", [](Planned& p) { p.view(p.x, p.at(0)), p.relu(p.x, p.out); },
     [](Planned& p) { p.view(p.x, p.at(32)), p.relu(p.x, p.out); }},
    {"T16", "rows that something writes over before the next",
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4}), other = p.at(80);
       p.relu(p.x, p.out);
       p.loop(p.plan.integer(3), [&](Index row) { p.add_row(rows, p.out, row), p.relu(p.x, other); });
     },
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4}), other = p.at(76);
       p.relu(p.x, p.out);
       p.loop(p.plan.integer(3), [&](Index row) { p.add_row(rows, p.out, row), p.relu(p.x, other); });
     }},
    {"T16", "rows of a loop into which a jump leads from behind it",
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4}), c = p.condition();
       p.input(c), p.relu(p.x, p.out);
       p.loop(p.plan.integer(3), [&](Index row) { p.add_row(rows, p.out, row); });
       p.plan.jump_if_false(c, p.next() + 1);
     },
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {3, 4}), c = p.condition();
       p.input(c), p.relu(p.x, p.out);
       const Index begin = p.next();
       p.loop(p.plan.integer(3), [&](Index row) { p.add_row(rows, p.out, row); });
       p.plan.jump_if_false(c, begin + 1);
     }},
    {"I15", "a condition to which a number was moved",
     [](Planned& p) {
       const Index c = p.plan.boolean(false);
       p.relu(p.x, p.out), p.plan.move(p.plan.boolean(true), c);
       p.unless(c, [&] { p.relu(p.x, p.out); });
     },
     [](Planned& p) {
       const Index c = p.plan.boolean(false);
       p.relu(p.x, p.out), p.plan.move(p.plan.integer(1), c);
       p.unless(c, [&] { p.relu(p.x, p.out); });
     }},
    {"T27", "a view of what was moved, planned where that is or where it was to be",
     [](Planned& p) {
       const Index moved = p.at(32), view = p.at(0);
       p.plan.move(p.x, moved), p.view(moved, view), p.relu(view, p.out);
     },
     [](Planned& p) {
       const Index moved = p.at(32), view = p.at(32);
       p.plan.move(p.x, moved), p.view(moved, view), p.relu(view, p.out);
     }},
    {"T27", "a view of a constant that was moved",
     [](Planned& p) {
       const Index moved = p.at(32), view = p.plan.tensor(f32, {4});
       p.plan.move(p.weight(), moved), p.view(moved, view), p.relu(view, p.out);
     },
     [](Planned& p) {
       const Index moved = p.at(32), view = p.at(32);
       p.plan.move(p.weight(), moved), p.view(moved, view), p.relu(view, p.out);
     }},
    {"T27", "a view of other bytes",
     [](Planned& p) {
       const Index a = p.plan.tensor(DType::int32, {4});
       p.view(p.x, a), p.relu(p.x, p.out);
     },
     [](Planned& p) {
       const Index a = p.plan.tensor(DType::int64, {4});
       p.view(p.x, a), p.relu(p.x, p.out);
     }},
    {"T27", "a view that is an input", [](Planned& p) { p.view(p.x, p.plan.tensor(f32, {4})), p.relu(p.x, p.out); },
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4});
       p.input(a), p.view(p.x, a), p.relu(p.x, p.out);
     }},
    {"I9", "the result", [](Planned& p) { p.relu(p.x, p.out); },
     [](Planned& p) {
       p.plan.call("aten::relu.out", {p.x, p.out}), p.relu(p.x, p.out);
     }},
    {"I9", "another result", [](Planned& p) { p.relu(p.x, p.out); },
     [](Planned& p) {
       p.plan.call("aten::relu.out", {p.x, p.out, p.at(32)});
     }},
    {"I9", "a list of results",
     [](Planned& p) {
       const Index indices = p.plan.planned(DType::int64, {4}, 2),
                   list = p.plan.list<pte::TensorListT>(std::vector{p.out, indices});
       p.plan.call("aten::sort.values", {p.x, p.plan.integer(0), p.plan.boolean(false), p.out, indices, list});
     },
     [](Planned& p) {
       const Index indices = p.plan.planned(DType::int64, {4}, 2),
                   list = p.plan.list<pte::TensorListT>(std::vector{indices, p.out});
       p.plan.call("aten::sort.values", {p.x, p.plan.integer(0), p.plan.boolean(false), p.out, indices, list});
     }},
    {"I9", "what is changed, as a number", [](Planned& p) { p.copy(p.out, p.x); },
     [](Planned& p) {
       p.plan.call("aten::copy_", {p.out, p.x, p.plan.boolean(false), p.plan.integer(0)});
     }},
    {"I9", "what is changed, with another rank", [](Planned& p) { p.copy(p.out, p.x); },
     [](Planned& p) {
       p.plan.call("aten::copy_", {p.out, p.x, p.plan.boolean(false), p.plan.tensor(f32, {2, 2})});
     }},
    {"I9", "the arguments of a view", [](Planned& p) { p.view(p.x, p.at(0)), p.relu(p.x, p.out); },
     [](Planned& p) {
       p.plan.call("executorch_prim::et_view.default", {p.x, p.plan.integers({4})}), p.relu(p.x, p.out);
     }},
    {"I10", "a number into a tensor",
     [](Planned& p) { p.number("add", p.plan.integer(1), p.plan.integer(2)), p.relu(p.x, p.out); },
     [](Planned& p) {
       p.plan.call("executorch_prim::add.Scalar", {p.plan.integer(1), p.plan.integer(2), p.x});
       p.relu(p.x, p.out);
     }},
    {"I10", "None for a number",
     [](Planned& p) {
       const Index n = p.plan.none();
       p.input(n), p.number("add", n, n), p.relu(p.x, p.out);
     },
     [](Planned& p) { p.number("add", p.plan.integer(1), p.plan.none()), p.relu(p.x, p.out); }},
    {"I12", "an out over an input",
     [](Planned& p) {
       const Index same = p.at(0);
       p.relu(p.x, same), p.relu(same, p.out);
     },
     [](Planned& p) {
       const Index shifted = p.at(4);
       p.relu(p.x, shifted), p.relu(shifted, p.out);
     }},
    {"I12", "an out over an input that is read element by element elsewhere",
     [](Planned& p) {
       p.plan.call("aten::flip.out", {p.x, p.plan.integers({0}), p.out, p.out});
     },
     [](Planned& p) {
       const Index same = p.at(0);
       p.plan.call("aten::flip.out", {p.x, p.plan.integers({0}), same, same}), p.relu(same, p.out);
     }},
    {"I12", "an out over an input of other sizes",
     [](Planned& p) {
       const Index row = p.at(32, {1, 4}), same = p.at(32, {1, 4});
       p.relu(p.x, p.at(32)), p.plan.add_tensors(row, p.x, same), p.relu(p.x, p.out);
     },
     [](Planned& p) {
       const Index column = p.at(32, {4, 1}), same = p.at(32, {1, 4});
       p.relu(p.x, p.at(32)), p.plan.add_tensors(column, p.x, same), p.relu(p.x, p.out);
     }},
    {"I12", "two outs",
     [](Planned& p) {
       const Index indices = p.plan.planned(DType::int64, {4}, 1, 32),
                   list = p.plan.list<pte::TensorListT>(std::vector{p.out, indices});
       p.plan.call("aten::sort.values", {p.x, p.plan.integer(0), p.plan.boolean(false), p.out, indices, list});
     },
     [](Planned& p) {
       const Index indices = p.plan.planned(DType::int64, {4}, 1, 24),
                   list = p.plan.list<pte::TensorListT>(std::vector{p.out, indices});
       p.plan.call("aten::sort.values", {p.x, p.plan.integer(0), p.plan.boolean(false), p.out, indices, list});
     }},
    {"I12", "rows of what a view of them is",
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {1, 4});
       p.add_row(rows, p.x, p.plan.integer(0)), p.relu(p.x, p.out);
     },
     [](Planned& p) {
       const Index rows = p.dynamic_at(32, {1, 4}), row = p.plan.tensor(f32, {4}, bounded);
       p.add_row(rows, p.x, p.plan.integer(0)), p.view(rows, row), p.add_row(rows, row, p.plan.integer(0));
       p.relu(p.x, p.out);
     }},
    {"I15", "an integer",
     [](Planned& p) {
       p.plan.jump_if_false(p.number("eq", p.plan.integer(1), p.plan.integer(2)), 2), p.relu(p.x, p.out),
           p.relu(p.x, p.out);
     },
     [](Planned& p) { p.plan.jump_if_false(p.plan.integer(1), 1), p.relu(p.x, p.out); }},
    {"I15", "a number of an operator",
     [](Planned& p) {
       p.plan.jump_if_false(p.number("lt", p.plan.integer(1), p.plan.integer(2)), 2), p.relu(p.x, p.out);
     },
     [](Planned& p) {
       p.plan.jump_if_false(p.number("add", p.plan.integer(1), p.plan.integer(2)), 2), p.relu(p.x, p.out);
     }},
    {"I15", "None", [](Planned& p) { p.plan.jump_if_false(p.plan.boolean(true), 1), p.relu(p.x, p.out); },
     [](Planned& p) { p.plan.jump_if_false(p.plan.none(), 1), p.relu(p.x, p.out); }},
    {"I18", "a tensor to an input",
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4});
       p.plan.move(p.x, a), p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4});
       p.input(a), p.plan.move(p.x, a), p.relu(a, p.out);
     }},
    {"I18", "a list", [](Planned& p) { p.plan.move(p.plan.integer(1), p.plan.none()), p.relu(p.x, p.out); },
     [](Planned& p) { p.plan.move(p.plan.integers({1}), p.plan.integers({1})), p.relu(p.x, p.out); }},
    {"I19", "what is not its own to free",
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, unbounded);
       p.relu(p.x, a), p.relu(a, p.out), p.plan.free(a);
     },
     [](Planned& p) { p.relu(p.x, p.out), p.plan.free(p.x); }},
    {"I19", "what is read behind",
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, unbounded);
       p.relu(p.x, a), p.plan.free(a), p.relu(p.x, a), p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, unbounded);
       p.relu(p.x, a), p.plan.free(a), p.relu(a, p.out);
     }},
    {"I19", "twice",
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, unbounded);
       p.relu(p.x, a), p.plan.free(a), p.relu(p.x, a), p.plan.free(a), p.relu(p.x, p.out);
     },
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, unbounded);
       p.relu(p.x, a), p.plan.free(a), p.plan.free(a), p.relu(p.x, p.out);
     }},
    {"I19", "an output",
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, unbounded);
       p.output(a), p.relu(p.x, a), p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.plan.tensor(f32, {4}, unbounded);
       p.output(a), p.relu(p.x, a), p.relu(a, p.out), p.plan.free(a);
     }},
    {"I20", "a number",
     [](Planned& p) {
       p.number("add", p.number("add", p.plan.integer(1), p.plan.integer(1)), p.plan.integer(1)), p.relu(p.x, p.out);
     },
     [](Planned& p) {
       const Index n = p.plan.integer(0);
       p.number("add", n, n), p.plan.call("executorch_prim::add.Scalar", {n, n, n}), p.relu(p.x, p.out);
     }},
    {"I20", "an element of a list",
     [](Planned& p) {
       const Index n = p.plan.integer(4), list = p.plan.list<pte::IntListT>(std::vector<std::int64_t>{n});
       p.plan.call("aten::view_copy.out", {p.x, list, p.out, p.out});
     },
     [](Planned& p) {
       const Index n = p.plan.integer(4), list = p.plan.list<pte::IntListT>(std::vector<std::int64_t>{n});
       p.plan.call("aten::view_copy.out", {p.x, list, p.out, p.out});
       p.plan.call("aten::sym_size.int", {p.x, p.plan.integer(0), n});
     }},
    {"I20", "a handle",
     [](Planned& p) {
       const Index a = p.at(32), c = p.condition();
       p.input(c), p.plan.move(p.x, a), p.unless(c, [&] { p.plan.move(p.x, a); });
       p.relu(a, p.out);
     },
     [](Planned& p) {
       const Index a = p.at(32), c = p.condition();
       p.input(c), p.unless(c, [&] { p.plan.move(p.x, a); });
       p.relu(a, p.out);
     }},
    {"I20", "a counter that is not put back",
     [](Planned& p) {
       const Index row = p.at(32, {});
       p.loop(p.plan.integer(3), [&](Index i) {
         p.plan.call("aten::select_copy.int_out", {p.x, p.plan.integer(0), i, row, row});
       });
       p.relu(p.x, p.out);
     },
     [](Planned& p) {
       p.loop(p.plan.integer(3), [](Index) {});
       p.plan.plan().chains[0]->instructions.pop_back(), p.relu(p.x, p.out);
     }},
    {"I21", "a loop on what never changes",
     [](Planned& p) {
       const Index c = p.condition();
       p.input(c), p.plan.call("aten::logical_not.out", {c, c, c}), p.relu(p.x, p.out);
       p.plan.jump_if_false(c, 0);
     },
     [](Planned& p) {
       const Index c = p.condition();
       p.input(c), p.plan.call("aten::logical_not.out", {c, c, c}), p.relu(p.x, p.out);
       p.plan.jump_if_false(c, 1);
     }},
    {"I21", "a jump to itself",
     [](Planned& p) {
       const Index c = p.condition();
       p.input(c), p.relu(p.x, p.out), p.plan.jump_if_false(c, 2);
     },
     [](Planned& p) {
       const Index c = p.condition();
       p.input(c), p.relu(p.x, p.out), p.plan.jump_if_false(c, 1);
     }},
    {"I21", "a loop without a way out",
     [](Planned& p) {
       const Index c = p.condition();
       p.input(c), p.relu(p.x, p.out), p.plan.jump_if_false(c, 4);
       p.plan.call("aten::logical_not.out", {c, c, c}), p.always(0);
     },
     [](Planned& p) { p.relu(p.x, p.out), p.always(0); }},
    {"I21", "two loops that leave for each other",
     [](Planned& p) {
       const Index c = p.condition();
       const auto negate = [&] { p.plan.call("aten::logical_not.out", {c, c, c}); };
       p.input(c), p.relu(p.x, p.out);
       negate(), p.plan.jump_if_false(c, 4), p.always(1);
       negate(), p.plan.jump_if_false(c, 1), p.plan.jump_if_false(c, 4);
     },
     [](Planned& p) {
       const Index c = p.condition();
       const auto negate = [&] { p.plan.call("aten::logical_not.out", {c, c, c}); };
       p.input(c), p.relu(p.x, p.out);
       negate(), p.plan.jump_if_false(c, 4), p.always(1);
       negate(), p.plan.jump_if_false(c, 1), p.always(4);
     }},
    {"V9", "a bool in a list of integers",
     [](Planned& p) {
       const Index n = p.plan.integer(0), list = p.plan.list<pte::IntListT>(std::vector<std::int64_t>{n});
       p.plan.call("aten::sym_size.int", {p.x, p.plan.integer(0), n});
       p.plan.call("aten::view_copy.out", {p.x, list, p.out, p.out});
     },
     [](Planned& p) {
       const Index n = p.plan.integer(0), list = p.plan.list<pte::IntListT>(std::vector<std::int64_t>{n});
       p.plan.call("executorch_prim::eq.Scalar", {p.plan.integer(0), p.plan.integer(0), n});
       p.plan.call("aten::view_copy.out", {p.x, list, p.out, p.out});
     }},
    {"M12", "an input twice", [](Planned& p) { p.input(p.plan.none()), p.relu(p.x, p.out); },
     [](Planned& p) { p.input(p.x), p.relu(p.x, p.out); }},
    {"H16", "a call of many results", [](Planned& p) { p.relu(p.x, p.out); },
     [](Planned& p) {
       std::vector<Index> parts;
       for (std::uint32_t i = 0; i < 6000; ++i) parts.push_back(p.at(32 + 4 * i, {1}));
       const Index list = p.plan.list<pte::TensorListT>(parts);
       p.plan.call("aten::split_copy.Tensor_out", {p.x, p.plan.integer(1), p.plan.integer(0), list, list}),
           p.relu(p.x, p.out);
     }},
};

}  // namespace

std::span<const FlowCase> flow_cases() { return every_flow_case; }

}  // namespace assay::corrupt
