// Both catalogues as three columns: the keys once, and the sentences of each language in the same order. Made by vite.config.ts.
declare module "virtual:book" {
  const book: [keys: string[], en: string[], zh: string[]];
  export default book;
}
