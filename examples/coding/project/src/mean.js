/** The sum of some numbers, divided by how many they are. */
export function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
