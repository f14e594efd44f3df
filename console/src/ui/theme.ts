// Theme: light, dark or as the system has it; kept in the browser, because the first paint needs it.

export type ThemeChoice = 'system' | 'light' | 'dark';

/** Sent on the window when the theme changes; what draws on a canvas draws again. */
export const themeEvent = 'themechange';

const prefersDark = () => matchMedia('(prefers-color-scheme: dark)').matches;

export function themeChoice(): ThemeChoice {
  const kept = localStorage.getItem('theme');
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem('theme');
  else localStorage.setItem('theme', choice);
  showTheme();
}

/** Follows the system while nothing is chosen. */
export function followSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showTheme);
}

function showTheme(): void {
  const choice = themeChoice();
  const shown = choice === 'system' ? (prefersDark() ? 'dark' : 'light') : choice;
  document.documentElement.dataset.theme = shown;
  dispatchEvent(new Event(themeEvent));
}

/** The value of a token, for what is drawn and not styled. */
export function tokenValue(name: `--${string}`): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
