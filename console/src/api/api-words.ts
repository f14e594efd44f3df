// Words of requests: what is said in place of an answer.
import { wordSet } from '../words/word-set.ts';

export const apiWords = wordSet(
  { unreachable: "The platform isn't responding" },
  { unreachable: 'Die Plattform antwortet nicht' },
);
