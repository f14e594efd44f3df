// Cut titles: text that an ellipsis cuts off says all of it while the pointer is over it.
import { useEffect } from 'react';

/** For all pages at once: whether a text is cut depends on the window, and its page cannot know. */
export function useCutTitles(): void {
  useEffect(() => {
    addEventListener('pointerover', onPointer);
    return () => removeEventListener('pointerover', onPointer);
  }, []);
}

/** A cut text is at most this many elements above the one under the pointer, such as a link in it. */
const levelsMax = 3;

function onPointer({ target }: PointerEvent): void {
  let element = target instanceof HTMLElement ? target : null;
  for (let level = 0; element !== null && level < levelsMax; level++) {
    if (getComputedStyle(element).textOverflow === 'ellipsis') return nameWhole(element);
    element = element.parentElement;
  }
}

function nameWhole(element: HTMLElement): void {
  const isOwn = element.dataset['cut'] !== undefined;
  if (!isOwn && element.closest('[title]') !== null) return;
  if (element.scrollWidth > element.clientWidth) {
    element.title = element.textContent;
    element.dataset['cut'] = '';
  } else if (isOwn) {
    element.removeAttribute('title');
    delete element.dataset['cut'];
  }
}
