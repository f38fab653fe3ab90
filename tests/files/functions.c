// Functions of C that tests/files/functions.tvms calls (T.call_extern).
#include <stdbool.h>
#include <stdint.h>
float axpy(const float *x, float *y, int64_t n, float a, double b) {
  float s = 0;
  for (int64_t i = 0; i < n; i++) {
    y[i] = a * x[i] + (float)b;
    s += y[i];
  }
  return s;
}
int8_t narrow(int8_t a, uint8_t b, int16_t c, uint16_t d) {
  return (int8_t)(a + b + c + d);
}
uint32_t wide(uint32_t a, int32_t b, int64_t c, uint64_t d) {
  return (uint32_t)(a + b + c + d);
}
bool both(bool a, bool b) {
  return a && b;
}
double many(int a, double b, int c, float d, int64_t e, int f, int8_t g, int h, int i,
            double j, float k, double l, double m, double n, double o, double p,
            float q, int r) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j
         + 11 * k + 12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r;
}
int64_t length(const char *s) {
  int64_t n = 0;
  while (s[n])
    n++;
  return n;
}
void *shift(float *p, int64_t n) {
  return p + n;
}
int64_t distance(float *p, float *q) {
  return q - p;
}
static int count;
void tick(void) {
  count++;
}
int ticks(void) {
  return count;
}
