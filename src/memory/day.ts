/** Epoch ms at which the day of `at` began where the user is. */
export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0)
}

/** Epoch ms at which the next day begins. Not 24 h later on the days on which clocks change. */
export function endOfDay(at: number): number {
  const day = new Date(at)
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime()
}
