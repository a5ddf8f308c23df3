#include "operators/window/aggregates.h"

#include "operators/window/accumulators.h"

namespace penstock::window {

namespace {

const char* kind_name(AggregateKind kind) {
  switch (kind) {
    case AggregateKind::kCountStar:
    case AggregateKind::kCount:
      return "count";
    case AggregateKind::kSum:
      return "sum";
    case AggregateKind::kMin:
      return "min";
    case AggregateKind::kMax:
      return "max";
    case AggregateKind::kAvg:
      return "avg";
  }
  return "?";
}

std::string known_columns(const Schema& schema) {
  std::string names;
  for (const FieldPtr& field : schema.fields()) {
    if (!names.empty()) names += ", ";
    names += field->name;
  }
  return names;
}

bool is_number(const DataType& type) {
  return type.is_integer() || type.is_floating() || type.id == TypeId::kDecimal128;
}

bool is_ordered(const DataType& type) {
  return is_number(type) || type.id == TypeId::kBool || type.is_binary_like() ||
         (type.id >= TypeId::kDate32 && type.id <= TypeId::kDuration);
}

DataTypePtr sum_type(const DataType& input) {
  if (input.is_floating()) return float64();
  if (input.id == TypeId::kDecimal128) return decimal128(38, input.scale);
  return input.is_signed_integer() ? int64() : uint64();
}

Status unsupported(const BoundAggregate& aggregate) {
  const std::string name = kind_name(aggregate.kind);
  std::string advice = "it works on integers, floats and decimal128";
  if (aggregate.kind == AggregateKind::kMin || aggregate.kind == AggregateKind::kMax) {
    advice = "it works on numbers, booleans, dates, times, strings and binary";
  }
  return Status::type_error(name + " cannot aggregate column '" + aggregate.column + "' of type " +
                            aggregate.input_type->to_string() + "; " + advice);
}

Status bind_types(BoundAggregate* aggregate) {
  const DataTypePtr& input = aggregate->input_type;
  switch (aggregate->kind) {
    case AggregateKind::kCountStar:
    case AggregateKind::kCount:
      aggregate->result_type = int64();
      aggregate->partial_types = {int64()};
      return Status::ok();
    case AggregateKind::kSum:
      if (!is_number(*input)) return unsupported(*aggregate);
      aggregate->result_type = sum_type(*input);
      aggregate->partial_types = {aggregate->result_type};
      return Status::ok();
    case AggregateKind::kMin:
    case AggregateKind::kMax:
      if (!is_ordered(*input)) return unsupported(*aggregate);
      aggregate->result_type = input;
      aggregate->partial_types = {input};
      return Status::ok();
    case AggregateKind::kAvg:
      if (!is_number(*input)) return unsupported(*aggregate);
      aggregate->result_type = float64();
      aggregate->partial_types = {input->is_floating()               ? float64()
                                  : input->id == TypeId::kDecimal128 ? decimal128(38, input->scale)
                                                                     : decimal128(38, 0),
                                  int64()};
      return Status::ok();
  }
  return Status::internal("unknown aggregate kind");
}

// Calls `make.template operator()<Physical>()` with the C++ type that the values of `type` have in
// memory.
template <typename Make>
std::unique_ptr<Accumulators> with_physical_type(const DataType& type, Make make) {
  switch (type.id) {
    case TypeId::kInt8:
      return make.template operator()<int8_t>();
    case TypeId::kInt16:
      return make.template operator()<int16_t>();
    case TypeId::kUInt8:
      return make.template operator()<uint8_t>();
    case TypeId::kUInt16:
      return make.template operator()<uint16_t>();
    case TypeId::kUInt32:
      return make.template operator()<uint32_t>();
    case TypeId::kUInt64:
      return make.template operator()<uint64_t>();
    case TypeId::kFloat32:
      return make.template operator()<float>();
    case TypeId::kFloat64:
      return make.template operator()<double>();
    case TypeId::kDecimal128:
      return make.template operator()<Decimal>();
    default:  // int32, int64, dates and times
      return type.byte_width == 4 ? make.template operator()<int32_t>()
                                  : make.template operator()<int64_t>();
  }
}

template <typename T>
using SumOf = std::conditional_t<
    std::is_same_v<T, Decimal>, Decimal,
    std::conditional_t<std::is_floating_point_v<T>, double,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>>;

template <bool kMin>
std::unique_ptr<Accumulators> make_extreme(const BoundAggregatePtr& aggregate) {
  const DataType& type = *aggregate->input_type;
  if (type.is_binary_like()) return std::make_unique<BinaryAccumulators>(aggregate);
  if (type.id == TypeId::kBool) {
    return std::make_unique<FixedAccumulators<bool, ExtremeOp<uint8_t, kMin>>>(aggregate);
  }
  return with_physical_type(type, [&]<typename T>() -> std::unique_ptr<Accumulators> {
    return std::make_unique<FixedAccumulators<T, ExtremeOp<T, kMin>>>(aggregate);
  });
}

}  // namespace

Status overflow_error(const BoundAggregate& aggregate, const DataType& type) {
  std::string advice = "cast the column to a type with more room";
  if (type.is_integer()) advice += " (float64, decimal128), or set penstock.sum-overflow to wrap";
  return Status::overflow(std::string(kind_name(aggregate.kind)) + " of column '" +
                          aggregate.column + "' overflows " + type.to_string() + "; " + advice);
}

std::string BoundAggregate::describe() const {
  std::string text = kind_name(kind);
  text += column_index < 0 ? "(*)" : "(" + column + ":" + input_type->to_string() + ")";
  return text + ":" + result_type->to_string();
}

Result<AggregateKind> parse_aggregate_kind(const std::string& name, bool has_column) {
  if (name == "count") return has_column ? AggregateKind::kCount : AggregateKind::kCountStar;
  for (const AggregateKind kind :
       {AggregateKind::kSum, AggregateKind::kMin, AggregateKind::kMax, AggregateKind::kAvg}) {
    if (name != kind_name(kind)) continue;
    if (!has_column) return Status::invalid("aggregate '" + name + "' needs a column");
    return kind;
  }
  return Status::invalid("unknown aggregate '" + name +
                         "'; known are count, sum, min, max and avg");
}

Result<BoundAggregate> bind_aggregate(const AggregateSpec& spec, const Schema& schema,
                                      OverflowMode overflow) {
  BoundAggregate bound;
  bound.kind = spec.kind;
  bound.overflow = overflow;
  bound.column = spec.column;
  bound.alias = spec.alias;
  if (spec.kind != AggregateKind::kCountStar) {
    bound.column_index = schema.index_of(spec.column);
    if (bound.column_index < 0) {
      return Status::key_error("aggregate " + std::string(kind_name(spec.kind)) +
                               ": there is no column '" + spec.column + "'; known are " +
                               known_columns(schema));
    }
    bound.input_type = schema.field(bound.column_index).type;
  }
  PENSTOCK_RETURN_NOT_OK(bind_types(&bound));
  return bound;
}

std::unique_ptr<Accumulators> make_accumulators(const BoundAggregate& bound) {
  const auto aggregate = std::make_shared<const BoundAggregate>(bound);
  switch (aggregate->kind) {
    case AggregateKind::kCountStar:
    case AggregateKind::kCount:
      return std::make_unique<CountAccumulators>();
    case AggregateKind::kMin:
      return make_extreme<true>(aggregate);
    case AggregateKind::kMax:
      return make_extreme<false>(aggregate);
    case AggregateKind::kSum:
      return with_physical_type(
          *aggregate->input_type, [&]<typename T>() -> std::unique_ptr<Accumulators> {
            return std::make_unique<FixedAccumulators<T, SumOp<SumOf<T>>>>(aggregate);
          });
    case AggregateKind::kAvg:
      return with_physical_type(
          *aggregate->input_type, [&]<typename T>() -> std::unique_ptr<Accumulators> {
            using Sum = std::conditional_t<std::is_floating_point_v<T>, double, Decimal>;
            return std::make_unique<AvgAccumulators<T, Sum>>(aggregate);
          });
  }
  return nullptr;
}

}  // namespace penstock::window
