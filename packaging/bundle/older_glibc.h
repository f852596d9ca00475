/* Mathematics by the symbols that glibc has had since its first release for this processor: those of 2.29 are what a link in Debian 11
 * takes otherwise, and then nothing that is linked so starts where PySide6 still does (glibc 2.28). They differ in speed, and in errno
 * alone where an argument is out of range. */
#if defined(__x86_64__) && !defined(__ASSEMBLER__)
__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver exp2,exp2@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver log2,log2@GLIBC_2.2.5");
__asm__(".symver pow,pow@GLIBC_2.2.5");
#endif
