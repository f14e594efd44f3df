// Pager: the current page of a long list, and links to the next and previous page.
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useFormats, useWords } from '../words/language.tsx';
import { IconButton } from './button.tsx';
import styles from './pager.module.css';
import { partWords } from './part-words.ts';

interface PagerProps {
  /** From 0. */
  readonly page: number;
  readonly pages: number;
  readonly go: (page: number) => void;
}

/** Nothing for a list of one page. */
export function Pager({ page, pages, go }: PagerProps) {
  const words = useWords(partWords);
  const { count } = useFormats();
  if (pages <= 1) return null;
  return (
    <div className={styles['pager']}>
      <IconButton
        label={words.earlier}
        icon={ChevronLeft}
        disabled={page === 0}
        onClick={() => go(page - 1)}
      />
      <span className="num">{words.pageOf(count(page + 1), count(pages))}</span>
      <IconButton
        label={words.later}
        icon={ChevronRight}
        disabled={page + 1 >= pages}
        onClick={() => go(page + 1)}
      />
    </div>
  );
}
