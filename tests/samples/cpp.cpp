// Shapes: 形.
#include <vector>

#define SQUARE(x) ((x) * (x))

namespace shapes::detail {

namespace {
int hidden() { return 1; }
}  // namespace

template <typename T>
class Circle final : public Shape<T> {
 public:
  using value_type = T;

  explicit Circle(T radius) : radius_(radius) {}
  ~Circle() override = default;
  virtual void declared() = 0;

  // In m².
  double area() const override {
    auto inner = [](T x) { return x; };
    return inner(radius_);
  }

  bool operator==(const Circle& other) const { return true; }

  operator bool() const { return true; }

  template <typename U>
  void grow(U by) {
    radius_ += by;
  }

  struct Inner {
    void deep() {}
  };

  enum class Mode { Outline, Filled };

 private:
  T radius_;
};

template <>
struct Circle<void> {};

class Forward;

}  // namespace shapes::detail

template <typename T>
T shapes::detail::Box<T>::volume(int scale) const noexcept {
  return T(scale);
}

std::vector<int>& Box::items() { return items_; }

Box::Box(int a) : a_(a) {}

Box::~Box() = default;

Box::operator int() const { return a_; }

std::ostream& operator<<(std::ostream& out, const Box& box) {
  return out << "ö";
}

using Alias = std::vector<int>;

typedef struct {
  int x;
} Point;

template <typename T>
concept Sized = requires(T t) { t.size(); };

union Value {
  int i;
};

extern "C" {
void shared(void) {}
}

inline auto trailing() -> int { return 1; }

int declared_only(int a);

namespace one { namespace two {
void shared_line() {}
} }

class SHAPES_EXPORT Exported : public Box {
 public:
  int size() const { return 1; }
};

TEST(suite, name) {
  EXPECT_EQ(1, 1);
}
