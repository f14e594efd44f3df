// Holiday countries: the choice of the console is what the platform's calendar has.
import Holidays from 'date-holidays';
import { expect, test } from 'vitest';
import { holidayCountries } from './week.ts';

test('every country of the calendar can be chosen, and no other', () => {
  expect([...holidayCountries].sort()).toEqual(Object.keys(new Holidays().getCountries()).sort());
});
